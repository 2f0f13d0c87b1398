import { countText } from "../../core/health/wording.ts";
import type { Guards } from "../../core/health/guards.ts";
import { lockBoundMs } from "../../core/health/evidence/node/freshness.ts";
import { defaultMaxAgeMs } from "../../core/config/schema/schema.ts";
import { formatDuration } from "../../core/command/output/figures.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/** The boolean guards, by their names in the configuration. */
const booleanGuards: readonly (readonly [string, (guards: Guards) => boolean])[] = [
  ["exclusive_primary", ({ exclusivePrimary }) => exclusivePrimary],
  ["running_primary", ({ runningPrimary }) => runningPrimary],
  ["attached_replica", ({ attachedReplica }) => attachedReplica],
  ["same_system", ({ sameSystem }) => sameSystem],
  ["failover_hold", ({ failoverHold }) => failoverHold],
];

/** Reports guards that are off (RC110), so that this is a reviewed decision. */
export function checkGuards({ command: { args, result }, config }: DoctorContext): void {
  const file = args.text("config");
  for (const [index, { name, guards }] of config.clusters.entries()) {
    for (const [guard, isOn] of booleanGuards) {
      if (isOn(guards)) continue;
      const location =
        file === null
          ? {}
          : { location: { file, pointer: `/clusters/${index}/guards/${guard}`, kind: "source" as const } };
      result.diagnose("RC110", { message: `cluster ${name}: guard ${guard} is off`, ...location });
    }
  }
  result.cover("guards", "complete", {
    detail: `${countText(booleanGuards.length, "guard")} of ${countText(config.clusters.length, "cluster")}`,
  });
}

/**
 * Compares max_age with the time for which the leader lock is certain to last: ttl - loop_wait - retry_timeout (design
 * rule 1). A larger max_age is reported (RC106), and judgement uses the limit of the lock. A default max_age is not
 * reported: nobody chose it, and the limit of the lock replaces it.
 */
export function checkMaxAge({ command: { result }, config, probed: { snapshot } }: DoctorContext): void {
  const unknown: string[] = [];
  const limited: string[] = [];
  const { maxAgeMs, intervalMs, timeoutMs } = config.probe;
  for (const cluster of snapshot.clusters) {
    if (cluster.config === null) {
      unknown.push(cluster.name);
      continue;
    }
    const boundMs = lockBoundMs(cluster);
    if (maxAgeMs <= boundMs) continue;
    if (maxAgeMs === defaultMaxAgeMs(intervalMs, timeoutMs))
      limited.push(`${cluster.name} to ${formatDuration(boundMs)}`);
    else
      result.diagnose("RC106", {
        message:
          `cluster ${cluster.name}: max_age is ${formatDuration(maxAgeMs)}, but the limit of the lock ` +
          `(ttl - loop_wait - retry_timeout) is ${formatDuration(boundMs)} and applies instead`,
      });
  }
  const detail =
    unknown.length === 0
      ? `${countText(snapshot.clusters.length, "cluster")}${limited.length === 0 ? "" : `; the lock limits ${limited.join(", ")}`}`
      : `no node has reported the dynamic configuration of ${unknown.join(", ")}`;
  result.cover("max_age", unknown.length === 0 ? "complete" : "incomplete", { detail });
}
