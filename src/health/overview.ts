import type { DatabaseAddress } from "../cluster/node.ts";
import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart, Snapshot } from "../cluster/snapshot.ts";
import { attachmentWarning } from "./attachment-warning.ts";
import { plainCheck } from "./check.ts";
import { drainOf } from "./drain.ts";
import { isFresh } from "./freshness.ts";
import { judge } from "./judge.ts";
import { presentLag } from "./lag.ts";
import { lagBytes } from "./measure.ts";
import type { Reason } from "./reason.ts";
import type { Route } from "./route.ts";
import type { Settings } from "./settings.ts";
import { look, type Sight } from "./sight.ts";

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

const shown: readonly Route[] = ["primary", "standby-leader", "replica", "read-only", "sync", "quorum", "async", "health", "readiness"];

/**
 * Looks all clusters over.
 * @param settings what each cluster is judged by; one without is left out
 * @param nowMs ms of our clock
 */
export function overview(snapshot: Snapshot, settings: (cluster: string) => Settings | undefined, nowMs: number): Overview {
  const clusters = snapshot.parts.flatMap((part) => {
    const judged = settings(part.name);
    return judged === undefined ? [] : [clusterOverview(look(part, judged, nowMs))];
  });
  return { instance: snapshot.instance, snapshot: snapshot.sequence, clusters };
}

function clusterOverview(sight: Sight): ClusterOverview {
  return { ...clusterHead(sight), nodes: sight.part.nodes.map((node) => nodeOverview(sight, node)) };
}

/** A cluster without its nodes. */
export function clusterHead(sight: Sight): Omit<ClusterOverview, "nodes"> {
  const { part, standing } = sight;
  const isPaused = part.nodes.some((node) => node.report?.isPaused === true && isFresh(node, sight.maxAgeMs, sight.nowMs));
  return {
    cluster: part.name,
    scope: part.scope,
    leader: standing.holder,
    timeline: part.position?.timeline ?? null,
    blind: sight.isBlind,
    paused: isPaused,
  };
}

/** One node as its cluster is seen. */
export function nodeOverview(sight: Sight, observation: Observation): NodeOverview {
  const { report, node } = observation;
  const isHolder = sight.standing.holder === node.name;
  const duty = judge(sight, observation, plainCheck(dutyOf(sight, observation)));
  return {
    node: node.name,
    role: report?.role ?? null,
    state: report?.state ?? null,
    timeline: report?.timeline ?? null,
    lag_bytes: isHolder ? 0 : lagBytes(sight, observation),
    lag_ms: isHolder ? 0 : presentLag(sight, observation).timeMs,
    age_ms: report === null ? null : Math.round(sight.nowMs - observation.sentAtMs),
    version: report?.version ?? null,
    system: report?.system ?? null,
    scope: report?.scope ?? null,
    api: node.api,
    exporter: node.exporter,
    database: node.database === null ? null : textOf(node.database),
    verdicts: Object.fromEntries(shown.map((route) => [route, wordFor(sight, observation, route)])),
    reason: duty.fit ? null : duty.reason,
    detail: duty.fit ? null : (observation.failure?.detail ?? duty.figure),
    warning: isHolder ? null : attachmentWarning(sight, observation),
    drain: drainOverview(sight.part, node.name, sight.nowMs),
  };
}

/** What a node is there for: the holder, and who claims or just lost the lock, to write; every other to be read from. */
function dutyOf(sight: Sight, { node, hasLock, report }: Observation): Route {
  if (sight.standing.holder === node.name) return report?.role === "standby_leader" ? "standby-leader" : "primary";
  return hasLock || report?.role === "primary" ? "primary" : "replica";
}

function wordFor(sight: Sight, observation: Observation, route: Route): "fit" | Reason {
  const verdict = judge(sight, observation, plainCheck(route));
  return verdict.fit ? "fit" : verdict.reason;
}

/** A drain as it is told; `null` when the node has none. */
export function drainOverview(part: ClusterPart, node: string, nowMs: number): DrainOverview | null {
  const drain = drainOf(part, node, nowMs);
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
