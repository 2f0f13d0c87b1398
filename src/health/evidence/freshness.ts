import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** While the cluster's own bound is not known, in ms: ttl - loop_wait - retry_timeout of the nodes' defaults (30 - 10 - 10 s). */
const unknownBoundMs = 10_000;
/** Nodes keep ttl >= loop_wait + 2 x retry_timeout, and retry_timeout >= 3 s, whatever their configuration says. */
const leastBoundMs = 3_000;

/**
 * How old a report may be for a yes: `max_age`, capped at ttl - loop_wait - retry_timeout of the cluster, within which
 * a leader that lost the DCS still holds its lock (design.md, rule 1).
 * @returns milliseconds
 */
export function maxAgeMs(cluster: ClusterState, policy: HealthPolicy): number {
  return Math.min(policy.maxAgeMs, lockBoundMs(cluster));
}

/** How long a lock that was seen is sure to last, in ms: ttl - loop_wait - retry_timeout. */
export function lockBoundMs({ config }: ClusterState): number {
  const bound = config === null ? unknownBoundMs : config.ttlMs - config.loopWaitMs - config.retryTimeoutMs;
  return Math.max(bound, leastBoundMs);
}

/** The instant from which the node's report is too old for a yes, in ms of our clock. Age counts from the sending of the probe. */
export function freshUntilMs(observation: Observation, maxAge: number): number {
  return observation.sentAtMs + maxAge;
}

/** Whether the node's report may still be believed. */
export function isFresh(observation: Observation, maxAge: number, nowMs: number): boolean {
  return nowMs < freshUntilMs(observation, maxAge);
}

/**
 * The instant from which no node of a cluster of two or more has fresh evidence, so that the fault is likely ours (design.md, rule 9).
 * @returns ms of our clock; `Infinity` for a cluster of one node, which is never blind
 */
export function blindFromMs(cluster: ClusterState, policy: HealthPolicy): number {
  return cluster.nodes.length > 1 ? cluster.newestReportAtMs + maxAgeMs(cluster, policy) : Infinity;
}
