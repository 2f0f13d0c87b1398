import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import { attachmentWarning } from "./attachment-warning.ts";
import { plainCheck } from "../check.ts";
import { drainOf } from "../evidence/active-drain.ts";
import { isFresh } from "../evidence/freshness.ts";
import { judge } from "../judge/judge.ts";
import { presentLag } from "../judge/lag.ts";
import { lagBytes } from "../evidence/measure.ts";
import type { Reason } from "../reason.ts";
import type { Route } from "../route.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { viewAt, type ClusterView } from "../evidence/cluster-view.ts";

/** All clusters as they are seen at one instant: what `GET /status` answers, field by field, and `rolecall status` shows. */
export interface Overview {
  readonly instance: string;
  readonly snapshot: number;
  readonly clusters: readonly ClusterOverview[];
}

/** One cluster. Figures that are not known are `null`. */
export interface ClusterOverview {
  readonly cluster: string;
  readonly scope: string | null;
  /** The node that holds the lock, by rule 2. */
  readonly leader: string | null;
  readonly timeline: number | null;
  /** No node has fresh evidence: the fault is likely ours. */
  readonly blind: boolean;
  readonly paused: boolean;
  readonly nodes: readonly NodeOverview[];
}

/** One node. Role, state and timeline are its own last word, however old: `age_ms` tells. */
export interface NodeOverview {
  readonly node: string;
  readonly role: string | null;
  readonly state: string | null;
  readonly timeline: number | null;
  /** 0 of the holder of the lock. */
  readonly lag_bytes: number | null;
  readonly lag_ms: number | null;
  /** How long ago the probe was sent that brought the last word. */
  readonly age_ms: number | null;
  readonly version: string | null;
  readonly system: string | null;
  readonly scope: string | null;
  /** `null` of a node that is known by its exporter alone. */
  readonly api: string | null;
  readonly exporter: string | null;
  /** `host:port` of the database itself. */
  readonly database: string | null;
  /** `fit`, or the reason, of each plain check. */
  readonly verdicts: { readonly [route: string]: "fit" | Reason };
  /** Why it does not serve as what it is: of the leader as a primary, of others as a replica; `null` when it does. */
  readonly reason: Reason | null;
  /** The figure or detail behind the reason. */
  readonly detail: string | null;
  /** What counts against a replica's attachment so far, as `listed by its sender, but has not moved for 6 s`; `null` when nothing does. */
  readonly warning: string | null;
  readonly drain: DrainOverview | null;
}

export interface DrainOverview {
  readonly reason: string;
  readonly by: string | null;
  readonly all: boolean;
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
 * Looks all clusters over.
 * @param policy what each cluster is judged by; one without is left out
 * @param nowMs ms of our clock
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
  const isPaused = cluster.nodes.some(
    (node) => node.report?.isPaused === true && isFresh(node, view.maxAgeMs, view.nowMs),
  );
  return {
    cluster: cluster.name,
    scope: cluster.scope,
    leader: lock.holder,
    timeline: cluster.position?.timeline ?? null,
    blind: view.isBlind,
    paused: isPaused,
  };
}

/** One node as its cluster is seen. */
export function nodeOverview(view: ClusterView, observation: Observation): NodeOverview {
  const { report, node } = observation;
  const isHolder = view.lock.holder === node.name;
  const duty = judge(view, observation, plainCheck(dutyOf(view, observation)));
  return {
    node: node.name,
    role: report?.role ?? null,
    state: report?.state ?? null,
    timeline: report?.timeline ?? null,
    lag_bytes: isHolder ? 0 : lagBytes(view, observation),
    lag_ms: isHolder ? 0 : presentLag(view, observation).timeMs,
    age_ms: report === null ? null : Math.round(view.nowMs - observation.sentAtMs),
    version: report?.version ?? null,
    system: report?.system ?? null,
    scope: report?.scope ?? null,
    api: node.api,
    exporter: node.exporter,
    database: node.database === null ? null : textOf(node.database),
    verdicts: Object.fromEntries(shown.map((route) => [route, wordFor(view, observation, route)])),
    reason: duty.fit ? null : duty.reason,
    detail: duty.fit ? null : (observation.failure?.detail ?? duty.figure),
    warning: isHolder ? null : attachmentWarning(view, observation),
    drain: drainOverview(view.cluster, node.name, view.nowMs),
  };
}

/** What a node is there for: the holder, and who claims or just lost the lock, to write; every other to be read from. */
function dutyOf(view: ClusterView, { node, hasLock, report }: Observation): Route {
  if (view.lock.holder === node.name) return report?.role === "standby_leader" ? "standby-leader" : "primary";
  return hasLock || report?.role === "primary" ? "primary" : "replica";
}

function wordFor(view: ClusterView, observation: Observation, route: Route): "fit" | Reason {
  const verdict = judge(view, observation, plainCheck(route));
  return verdict.fit ? "fit" : verdict.reason;
}

/** A drain as it is told; `null` when the node has none. */
export function drainOverview(cluster: ClusterState, node: string, nowMs: number): DrainOverview | null {
  const drain = drainOf(cluster, node, nowMs);
  if (drain === null) return null;
  return {
    reason: drain.reason,
    by: drain.by,
    all: drain.isAll,
    since: drain.since,
    until: drain.until,
    remaining_ms: Math.round(drain.untilMs - nowMs),
  };
}

function textOf({ host, port }: DatabaseAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
