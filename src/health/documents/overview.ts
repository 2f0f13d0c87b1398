import type { DcsState } from "../../cluster/dcs.ts";
import { drainFlags, type DrainFlags } from "../../cluster/drain.ts";
import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import { attachmentWarning } from "../evidence/attachment/attachment-warning.ts";
import { plainCheck } from "../check.ts";
import { tagTexts } from "../../cluster/values/tags.ts";
import { activeDrainOf } from "../evidence/node/active-drain.ts";
import { isFresh } from "../evidence/node/freshness.ts";
import { judge } from "../rules/judge.ts";
import { shownLag } from "../evidence/position/present-lag.ts";
import { isPast } from "../evidence/node/freshness.ts";
import type { Reason } from "../reason.ts";
import type { Route } from "../route.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { viewAt, type ClusterView } from "../evidence/leadership/cluster-view.ts";
import { restartPlan, scheduledSwitchover, type ScheduledSwitchover } from "./plans.ts";

/** All clusters at one instant: the fields of `GET /status`, which `rolecall status` shows. */
export interface Overview {
  readonly instance: string;
  readonly snapshot: number;
  readonly clusters: readonly ClusterOverview[];
}

/** One cluster. Unknown values are `null`. */
export interface ClusterOverview {
  readonly cluster: string;
  readonly scope: string | null;
  /** The node that holds the lock, by rule 2. */
  readonly leader: string | null;
  readonly timeline: number | null;
  /** No node has fresh evidence: the fault is likely rolecall's. */
  readonly blind: boolean;
  readonly paused: boolean;
  /** The DCS is down, and the leader continues because every member agreed. */
  readonly failsafe: boolean;
  readonly scheduled_switchover: ScheduledSwitchover | null;
  /** Present if a DCS is configured. */
  readonly dcs?: DcsOverview;
  readonly nodes: readonly NodeOverview[];
}

/** The DCS of a cluster. */
export interface DcsOverview {
  /** Whether the watch works. */
  readonly up: boolean;
  /** Why it does not, or what is wrong with the keys; `null` if nothing is. */
  readonly problem: string | null;
  /** The member that it named last; `null` for nobody, and before the first read. */
  readonly leader: string | null;
  /** Whether it may withdraw a yes. */
  readonly trusted: boolean;
}

/** One node. Timeline, version, system and scope are from its last report, of any age: see `age_ms`. */
export interface NodeOverview {
  readonly node: string;
  /** `unknown` while its last report is past: too old to count, or the node is down; then see `was`. */
  readonly role: string | null;
  /** `unknown` likewise. */
  readonly state: string | null;
  /** The role in its last report while that is past, such as `primary` for a killed primary; else `null`. */
  readonly was: string | null;
  /** In one word why its last probe failed, such as `refused` or `timeout`; `null` if it was answered. */
  readonly error: string | null;
  readonly timeline: number | null;
  /** 0 for the lock holder, unless it replicates from a source. */
  readonly lag_bytes: number | null;
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
  /** A changed parameter takes effect only after a restart. */
  readonly pending_restart: boolean;
  /** When a restart of the node is scheduled, as the node writes it; `null` if none is. */
  readonly scheduled_restart: string | null;
  /** `fit`, or the reason, of each plain check. */
  readonly verdicts: { readonly [route: string]: "fit" | Reason };
  /** Why it is not fit for its role: the leader as a primary, others as a replica; `null` if it is. */
  readonly reason: Reason | null;
  /** The figure or detail behind the reason. */
  readonly detail: string | null;
  /**
   * What counts against a replica's attachment so far, as `listed by its sender, but has not advanced for 6 s`; `null`
   * if nothing does.
   */
  readonly warning: string | null;
  readonly drain: DrainOverview | null;
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

/**
 * Summarizes all clusters.
 * @param policy the policy of each cluster; a cluster without one is omitted
 * @param nowMs ms of rolecall's clock
 */
export function overview(
  snapshot: Snapshot,
  policy: (cluster: string) => HealthPolicy | undefined,
  nowMs: number,
): Overview {
  const clusters = snapshot.clusters.flatMap((state) => {
    const healthPolicy = policy(state.name);
    return healthPolicy === undefined ? [] : [clusterOverview(viewAt(state, healthPolicy, nowMs))];
  });
  return { instance: snapshot.instance, snapshot: snapshot.sequence, clusters };
}

function clusterOverview(view: ClusterView): ClusterOverview {
  return { ...clusterHead(view), nodes: view.cluster.nodes.map((node) => nodeOverview(view, node)) };
}

/** A cluster without its nodes. */
export function clusterHead(view: ClusterView): Omit<ClusterOverview, "nodes"> {
  const { cluster, lock } = view;
  const fresh = cluster.nodes.filter((node) => isFresh(node, view.maxAgeMs, view.nowMs));
  return {
    cluster: cluster.name,
    scope: cluster.scope,
    leader: lock.holder,
    timeline: cluster.position?.timeline ?? null,
    blind: view.isBlind,
    paused: fresh.some(({ report }) => report?.isPaused === true),
    failsafe: fresh.some(({ report }) => report?.isFailsafe === true),
    scheduled_switchover: scheduledSwitchover(cluster.documents.cluster),
    ...(cluster.dcs === null ? {} : { dcs: dcsOverview(cluster.dcs) }),
  };
}

function dcsOverview({ isUp, failure, read, distrust }: DcsState): DcsOverview {
  const problem = failure?.detail ?? (read?.hasScope === false ? "no key of the scope" : null);
  return { up: isUp, problem, leader: read?.leader ?? null, trusted: distrust === null };
}

/** One node as its cluster is seen. */
export function nodeOverview(view: ClusterView, observation: Observation): NodeOverview {
  const { report, node } = observation;
  const isHolder = view.lock.holder === node.name;
  const lag = shownLag(view, observation);
  const duty = judge(view, observation, plainCheck(dutyOf(view, observation)));
  // A primary that is fit on its exporter alone (guard survive) is a primary still.
  const past = !duty.fit && isPast(view, observation);
  return {
    node: node.name,
    role: past ? "unknown" : (report?.role ?? null),
    state: past ? "unknown" : (report?.state ?? null),
    was: past ? (report?.role ?? null) : null,
    error: observation.failure?.kind ?? null,
    timeline: report?.timeline ?? null,
    lag_bytes: lag.bytes,
    lag_ms: lag.timeMs,
    age_ms: report === null ? null : Math.round(view.nowMs - observation.sentAtMs),
    version: report?.version ?? null,
    system: report?.system ?? null,
    scope: report?.scope ?? null,
    api: node.api,
    exporter: node.exporter,
    database: node.database === null ? null : textOf(node.database),
    sync_role: report?.isSyncStandby === true ? "sync" : report?.isQuorumStandby === true ? "quorum" : null,
    tags: tagTexts(report?.tags ?? new Map()),
    ...restartPlan(report),
    verdicts: Object.fromEntries(shown.map((route) => [route, verdictFor(view, observation, route)])),
    reason: duty.fit ? null : duty.reason,
    detail: duty.fit ? null : (failureBehind(duty.reason, observation) ?? duty.figure),
    warning: isHolder ? null : attachmentWarning(view, observation),
    drain: drainOverview(view.cluster, node.name, view.nowMs),
  };
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

function verdictFor(view: ClusterView, observation: Observation, route: Route): "fit" | Reason {
  const verdict = judge(view, observation, plainCheck(route));
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
