import type { Observation } from "../cluster/observation.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import type { Settings } from "./settings.ts";

/** While the cluster's own bound is not known, in ms: ttl - loop_wait - retry_timeout of the nodes' defaults (30 - 10 - 10 s). */
const unknownBoundMs = 10_000;
/** Nodes keep ttl >= loop_wait + 2 x retry_timeout, and retry_timeout >= 3 s, whatever their configuration says. */
const leastBoundMs = 3_000;

/**
 * How old a report may be for a yes: `max_age`, capped at ttl - loop_wait - retry_timeout of the cluster, within which
 * a leader that lost the DCS still holds its lock (design.md, rule 1).
 * @returns milliseconds
 */
export function maxAgeMs(part: ClusterPart, settings: Settings): number {
  return Math.min(settings.maxAgeMs, lockBoundMs(part));
}

/** How long a lock that was seen is sure to last, in ms: ttl - loop_wait - retry_timeout. */
export function lockBoundMs({ config }: ClusterPart): number {
  const bound = config === null ? unknownBoundMs : config.ttlMs - config.loopWaitMs - config.retryTimeoutMs;
  return Math.max(bound, leastBoundMs);
}

/** Whether the node's report may still be believed. Age counts from the sending of the probe. */
export function isFresh(observation: Observation, maxAge: number, nowMs: number): boolean {
  return nowMs - observation.sentAtMs < maxAge;
}

/** Rule 9: no node of a cluster of two or more has fresh evidence, so the fault is likely ours. */
export function isBlind(part: ClusterPart, settings: Settings, nowMs: number): boolean {
  return part.nodes.length > 1 && nowMs - part.newestAtMs >= maxAgeMs(part, settings);
}
