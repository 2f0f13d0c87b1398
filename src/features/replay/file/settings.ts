import type { Companion } from "../../../core/cluster/companion.ts";
import { defaultGuards } from "../../../core/health/guards.ts";
import type { HealthPolicy } from "../../../core/health/health-policy.ts";
import { Reading } from "./reading.ts";

const settingKeys = [
  "interval",
  "timeout",
  "max_age",
  "liveness_max_age",
  "view_max_age",
  "page_max_age",
  "fall",
  "rise",
  "zone_tag",
  "companions",
  "guards",
];
const guardKeys = [
  "exclusive_primary",
  "running_primary",
  "attached_replica",
  "same_system",
  "failover_hold",
  "attach_window",
  "demoted_for",
  "lag_samples",
  "dwell",
  "handover_hold",
  "survive",
];

/** Reads the settings of an incident file: the policy that its answers were judged by. */
export function settingsOf(section: Reading): HealthPolicy {
  const value = (section.isAbsent ? new Reading({}, "settings") : section).mapping(settingKeys);
  const intervalMs = value("interval").span(1_000);
  const maxAgeMs = value("max_age").span(5_500);
  const guards = (value("guards").isAbsent ? new Reading({}, "guards") : value("guards")).mapping(guardKeys);
  return {
    intervalMs,
    timeoutMs: value("timeout").span(2_500),
    maxAgeMs,
    livenessMaxAgeMs: value("liveness_max_age").span(maxAgeMs + 27 * intervalMs),
    viewMaxAgeMs: value("view_max_age").span(maxAgeMs + 6 * intervalMs),
    pageMaxAgeMs: value("page_max_age").span(maxAgeMs + 6 * intervalMs),
    fall: value("fall").count(3),
    rise: value("rise").count(1),
    discovers: false,
    configured: [],
    ...(value("zone_tag").isAbsent ? {} : { zoneTag: value("zone_tag").text() }),
    ...(value("companions").isAbsent ? {} : { companions: value("companions").entries().map(companionOf) }),
    guards: {
      exclusivePrimary: guards("exclusive_primary").flag(defaultGuards.exclusivePrimary),
      runningPrimary: guards("running_primary").flag(defaultGuards.runningPrimary),
      attachedReplica: guards("attached_replica").flag(defaultGuards.attachedReplica),
      sameSystem: guards("same_system").flag(defaultGuards.sameSystem),
      failoverHold: guards("failover_hold").flag(defaultGuards.failoverHold),
      attachWindowMs: guards("attach_window").span(defaultGuards.attachWindowMs),
      demotedForMs: guards("demoted_for").span(defaultGuards.demotedForMs),
      lagSamples: guards("lag_samples").count(defaultGuards.lagSamples),
      dwellMs: guards("dwell").span(defaultGuards.dwellMs),
      handoverHoldMs: guards("handover_hold").span(defaultGuards.handoverHoldMs),
      surviveMs: guards("survive").span(defaultGuards.surviveMs),
    },
  };
}

/** A companion and its port. Where it is another one at a node does not matter to a replay. */
function companionOf([name, port]: readonly [string, Reading]): Companion {
  return { name, port: port.count(0), at: new Map() };
}
