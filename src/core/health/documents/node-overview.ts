import { drainFlags, type DrainFlags } from "../../cluster/drain.ts";
import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { tagTexts } from "../../cluster/values/tags.ts";
import { plainCheck, type Check } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { activeDrainOf } from "../evidence/node/active-drain.ts";
import { isPast } from "../evidence/node/freshness.ts";
import { zoneOf } from "../evidence/node/zone.ts";
import { shownLag } from "../evidence/position/present-lag.ts";
import type { Reason } from "../reason.ts";
import type { Route } from "../route.ts";
import { judge } from "../rules/judge.ts";
import { refusedChecks, type AskedCheck } from "../rules/asked-checks.ts";
import type { NodeCondition } from "../conditions/cluster-condition.ts";
import { companionOverviews, type CompanionOverview } from "../conditions/companions.ts";
import { nodeWarning } from "../conditions/node-signs.ts";
import { isExcused, type NodeStanding } from "../conditions/node-standing.ts";

import { nodeMarks, type NodeMarks } from "../evidence/node/plans.ts";

/** One node. Timeline, version, system and scope are from its last report, of any age: see `age_ms`. */
export interface NodeOverview extends NodeStanding, NodeMarks {
  /** In one word why its last probe failed, such as `refused` or `timeout`; `null` if it was answered. */
  readonly error: string | null;
  readonly timeline: number | null;
  readonly lag_ms: number | null;
  /** The age of the last report: the time since its probe was sent. */
  readonly age_ms: number | null;
  readonly version: string | null;
  readonly system: string | null;
  readonly scope: string | null;
  /** `null` for a node known only through its exporter. */
  readonly api: string | null;
  readonly exporter: string | null;
  /** `host:port` of the database itself. */
  readonly database: string | null;
  /** The part of a replica in synchronous replication; `null` for an asynchronous one, and for the leader. */
  readonly sync_role: "sync" | "quorum" | null;
  /** As the node reports them: strings unchanged, other values as lower-case text. */
  readonly tags: { readonly [name: string]: string };
  readonly drain: DrainOverview | null;
  /** Its companions; absent if the configuration names no companions. */
  readonly companions?: readonly CompanionOverview[];
  /** `last known` while the last report is past: then lag, positions and limits say nothing of the present. */
  readonly evidence: "fresh" | "last known" | "none";
}

export interface DrainOverview extends DrainFlags {
  readonly reason: string;
  readonly by: string | null;
  /** RFC 3339, UTC. */
  readonly since: string;
  readonly until: string;
  readonly remaining_ms: number;
}

const shown: readonly Route[] = [
  "primary",
  "standby-leader",
  "replica",
  "read-only",
  "sync",
  "quorum",
  "async",
  "health",
  "readiness",
];
const shownChecks = shown.map(plainCheck);

/**
 * One node as its cluster is seen.
 * @param asked the checks with a limit for lag that balancers send, or are configured
 */
export function nodeOverview(
  view: ClusterView,
  observation: Observation,
  asked: readonly AskedCheck[] = [],
): NodeOverview {
  const { report, node } = observation;
  const { reason, detail, ...lag } = nodeGrounds(view, observation);
  // A primary that is fit on its exporter alone (guard survive) is a primary still.
  const past = reason !== null && isPast(view, observation);
  // The lock holder serves replicas' checks only where nobody else does.
  const ofReplicas = view.lock.holder === node.name ? [] : asked;
  const standing = {
    reason,
    warning: nodeWarning(view, observation),
    drain: drainOverview(view.cluster, node.name, view.nowMs),
    asked: ofReplicas.length,
    refused: reason === null ? refusedChecks(view, observation, ofReplicas) : [],
  };
  return {
    node: node.name,
    role: past ? "unknown" : (report?.role ?? null),
    state: past ? "unknown" : (report?.state ?? null),
    was: past ? (report?.role ?? null) : null,
    error: observation.failure?.kind ?? null,
    timeline: report?.timeline ?? null,
    ...lag,
    age_ms: report === null ? null : Math.round(view.nowMs - observation.sentAtMs),
    version: report?.version ?? null,
    system: report?.system ?? null,
    scope: report?.scope ?? null,
    api: node.api,
    exporter: node.exporter,
    database: node.database === null ? null : textOf(node.database),
    zone: zoneOf(view.policy, observation),
    sync_role: report?.isSyncStandby === true ? "sync" : report?.isQuorumStandby === true ? "quorum" : null,
    tags: tagTexts(report?.tags ?? new Map()),
    ...nodeMarks(report),
    verdicts: Object.fromEntries(shownChecks.map((check) => [check.route, verdictFor(view, observation, check)])),
    ...standing,
    ...(view.policy.companions === undefined ? {} : { companions: companionOverviews(view, observation) }),
    detail,
    evidence: report === null ? "none" : past ? "last known" : "fresh",
    condition: nodeConditionOf(standing),
  };
}

/** What speaks against a node in its role, and how far it lags: the part of its overview that a log line states. */
export function nodeGrounds(
  view: ClusterView,
  observation: Observation,
): Pick<NodeOverview, "reason" | "detail" | "lag_bytes" | "lag_ms"> {
  const duty = judge(view, observation, plainCheck(dutyOf(view, observation)));
  const { bytes, timeMs } = shownLag(view, observation);
  return {
    reason: duty.fit ? null : duty.reason,
    detail: duty.fit ? null : (failureBehind(duty.reason, observation) ?? duty.figure),
    lag_bytes: bytes,
    lag_ms: timeMs,
  };
}

/** A warning is what counts against a node that is fit for its role. */
function nodeConditionOf({
  reason,
  warning,
  drain,
  asked,
  refused,
}: Pick<NodeOverview, "reason" | "warning" | "drain" | "asked" | "refused">): NodeCondition {
  if (drain !== null && isExcused(reason)) return "drained";
  if (reason !== null || (asked > 0 && refused.length === asked)) return "unfit";
  return warning === null && refused.length === 0 ? "ok" : "warning";
}

/** The failed probe behind a reason that stands for missing evidence; `null` for other reasons. */
function failureBehind(reason: Reason, { failure }: Observation): string | null {
  return reason === "down" || reason === "stale" || reason === "unknown" ? (failure?.detail ?? null) : null;
}

/**
 * The role a node is meant for: writing for the lock holder and nodes that claim or just lost the lock; else reading.
 */
function dutyOf(view: ClusterView, { node, hasLock, report }: Observation): Route {
  if (view.lock.holder === node.name) return report?.role === "standby_leader" ? "standby-leader" : "primary";
  return hasLock || report?.role === "primary" ? "primary" : "replica";
}

function verdictFor(view: ClusterView, observation: Observation, check: Check): "fit" | Reason {
  const verdict = judge(view, observation, check);
  return verdict.fit ? "fit" : verdict.reason;
}

/** The fields of a drain; `null` if the node has none. */
export function drainOverview(cluster: ClusterState, node: string, nowMs: number): DrainOverview | null {
  const drain = activeDrainOf(cluster, node, nowMs);
  if (drain === null) return null;
  return {
    reason: drain.reason,
    by: drain.by,
    ...drainFlags(drain.extent),
    since: drain.since,
    until: drain.until,
    remaining_ms: Math.round(drain.untilMs - nowMs),
  };
}

function textOf({ host, port }: DatabaseAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
