import type { ClusterPart } from "../cluster/snapshot.ts";
import { isProven } from "./exporter-claims.ts";
import { isFresh, lockBoundMs } from "./freshness.ts";
import type { Sight } from "./sight.ts";
import { isTimeLagGrowing } from "./time-lag.ts";

/** A figure that grows with time (`lag_ms`, the seconds of `stale`) may be this old when it is shown, in ms. */
const figureAgeMs = 100;
/** Nothing is held to be true longer than this without another look, in ms. */
const longestMs = 1_000;
/** Clusters with more nodes are not searched for growing figures: they are taken to have one. */
const searchedMax = 64;

/**
 * Until when every answer about a cluster that follows from the sight stays what it is, should no probe come: the next instant at
 * which evidence turns stale, a span of a guard runs out, or a shown figure has grown. Too early is harmless, too late is not: whoever
 * makes judgement look at the clock in another way adds the instant here.
 * @param limitsTime whether the question has a limit on lag in time: then a growing lag may pass it at any instant
 * @returns an instant of our clock in ms; `sight.nowMs` where the answer is true only now
 */
export function trueUntilMs(sight: Sight, limitsTime: boolean): number {
  const { part, nowMs } = sight;
  let untilMs = nowMs + longestMs;
  if (isGrowing(sight)) {
    if (limitsTime) return nowMs;
    untilMs = nowMs + figureAgeMs;
  }
  for (const instant of instants(part, sight)) if (instant > nowMs && instant < untilMs) untilMs = instant;
  return untilMs;
}

function* instants(part: ClusterPart, { settings, maxAgeMs }: Sight): IterableIterator<number> {
  const { demotedForMs, surviveMs, handoverHoldMs } = settings.guards;
  yield part.newestAtMs + maxAgeMs;
  for (const { untilMs } of part.drains.values()) yield untilMs;
  if (part.withdrawn !== null) yield part.withdrawn.atMs + handoverHoldMs;
  for (const { sentAtMs, lastHeldAtMs, liveness, failedAtMs, exporter, claimedSinceMs, measured } of part.nodes) {
    yield sentAtMs + maxAgeMs;
    if (measured !== null && measured.heldUntilMs !== null) yield measured.heldUntilMs;
    if (claimedSinceMs !== null) yield claimedSinceMs + handoverHoldMs;
    if (exporter !== null) {
      yield exporter.provenAtMs + settings.pageMaxAgeMs;
      yield (exporter.up?.sentAtMs ?? -Infinity) + settings.maxAgeMs;
    }
    if (failedAtMs > -Infinity) yield failedAtMs + settings.livenessMaxAgeMs;
    if (liveness !== null) yield liveness.sentAtMs + settings.livenessMaxAgeMs;
    if (lastHeldAtMs === null) continue;
    yield lastHeldAtMs + demotedForMs;
    yield lastHeldAtMs + Math.min(surviveMs, lockBoundMs(part));
  }
}

/** Whether an answer may show a figure that is another one a moment later. */
function isGrowing(sight: Sight): boolean {
  const { part, settings, maxAgeMs, nowMs } = sight;
  if (part.nodes.length > searchedMax) return true;
  const { handoverHoldMs } = settings.guards;
  if (part.withdrawn !== null && part.withdrawn.atMs + handoverHoldMs > nowMs) return true;
  return part.nodes.some((node) => {
    if (node.report === null) return false;
    if (node.exporter !== null && !isProven(node, settings, nowMs)) return true;
    if (node.claimedSinceMs !== null && node.claimedSinceMs + handoverHoldMs > nowMs) return true;
    return !isFresh(node, maxAgeMs, nowMs) || isTimeLagGrowing(part, node, sight);
  });
}
