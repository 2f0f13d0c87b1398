import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/**
 * The bound while the cluster's own is unknown, in ms: ttl - loop_wait - retry_timeout of Patroni's defaults (30 - 10 -
 * 10 s).
 */
const unknownBoundMs = 10_000;
/** Nodes enforce ttl >= loop_wait + 2 x retry_timeout, and retry_timeout >= 3 s. */
const leastBoundMs = 3_000;

/**
 * Returns the maximum age of a report for a yes: `max_age`, capped at ttl - loop_wait - retry_timeout of the cluster,
 * within which a leader that lost the DCS still holds its lock (rule 1).
 * @returns milliseconds
 */
export function maxAgeMs(cluster: ClusterState, policy: HealthPolicy): number {
  return Math.min(policy.maxAgeMs, lockBoundMs(cluster));
}

/** Returns how long a lock is sure to last after it was seen, in ms: ttl - loop_wait - retry_timeout. */
export function lockBoundMs({ config }: ClusterState): number {
  const bound = config === null ? unknownBoundMs : config.ttlMs - config.loopWaitMs - config.retryTimeoutMs;
  return Math.max(bound, leastBoundMs);
}

/** Returns how long a leader lock lasts without renewal, in ms; Patroni's default while the cluster's is unknown. */
export function lockTtlMs({ config }: Pick<ClusterState, "config">): number {
  return config?.ttlMs ?? 30_000;
}

/** Returns how often nodes renew and look at the lock, in ms; Patroni's default while the cluster's is unknown. */
export function loopWaitMs({ config }: Pick<ClusterState, "config">): number {
  return config?.loopWaitMs ?? 10_000;
}

/** Returns how long nodes retry requests to the DCS, in ms; Patroni's default while the cluster's is unknown. */
export function retryTimeoutMs({ config }: Pick<ClusterState, "config">): number {
  return config?.retryTimeoutMs ?? 10_000;
}

/**
 * When the node's report becomes too old for a yes, in ms of rolecall's clock. Age counts from the sending of the
 * probe.
 */
export function freshUntilMs(observation: Observation, maxAge: number): number {
  return observation.sentAtMs + maxAge;
}

/** Whether the node's report is fresh. */
export function isFresh(observation: Observation, maxAge: number, nowMs: number): boolean {
  return nowMs < freshUntilMs(observation, maxAge);
}

/**
 * When no node of a cluster of two or more has fresh evidence any more. Then the fault is likely rolecall's (rule 9).
 * @returns ms of rolecall's clock; `Infinity` for a cluster of one node, which is never blind
 */
export function blindFromMs(cluster: ClusterState, policy: HealthPolicy): number {
  return cluster.nodes.length > 1 ? cluster.newestReportAtMs + maxAgeMs(cluster, policy) : Infinity;
}

/** What a cluster view has that the freshness of a report depends on. */
interface FreshnessBounds {
  readonly maxAgeMs: number;
  readonly nowMs: number;
}

/** Whether a node answers, and its last report is fresh (rules 1 and 8). A cluster with such a node is not blind. */
export function isHeard({ maxAgeMs: maxAge, nowMs }: FreshnessBounds, observation: Observation): boolean {
  return !observation.isDown && isFresh(observation, maxAge, nowMs);
}

/**
 * Whether a node's last report describes the past only. What such a report says of role and state must not be shown as
 * the present.
 * @returns `false` for a node without a report
 */
export function isPast(bounds: FreshnessBounds, observation: Observation): boolean {
  return observation.report !== null && !isHeard(bounds, observation);
}
