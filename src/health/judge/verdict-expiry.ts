import type { ClusterState } from "../../cluster/snapshot.ts";
import { isDatabaseAlive } from "../evidence/exporter-claims.ts";
import { isFresh, lockBoundMs } from "../evidence/freshness.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import { isTimeLagGrowing } from "../evidence/time-lag.ts";

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
export function validUntilMs(view: ClusterView, limitsTime: boolean): number {
  const { cluster, nowMs } = view;
  let untilMs = nowMs + longestMs;
  if (isGrowing(view)) {
    if (limitsTime) return nowMs;
    untilMs = nowMs + figureAgeMs;
  }
  for (const instant of instants(cluster, view)) if (instant > nowMs && instant < untilMs) untilMs = instant;
  return untilMs;
}

function* instants(cluster: ClusterState, { policy, maxAgeMs }: ClusterView): IterableIterator<number> {
  const { demotedForMs, surviveMs, handoverHoldMs } = policy.guards;
  yield cluster.newestReportAtMs + maxAgeMs;
  for (const { untilMs } of cluster.drains.values()) yield untilMs;
  if (cluster.leadership.lastLoss !== null) yield cluster.leadership.lastLoss.atMs + handoverHoldMs;
  for (const { sentAtMs, lastHeldAtMs, liveness, failedAtMs, exporter, claimedSinceMs, measured } of cluster.nodes) {
    yield sentAtMs + maxAgeMs;
    if (measured !== null && measured.heldUntilMs !== null) yield measured.heldUntilMs;
    if (claimedSinceMs !== null) yield claimedSinceMs + handoverHoldMs;
    if (exporter !== null) {
      yield exporter.provenAtMs + policy.pageMaxAgeMs;
      yield (exporter.up?.sentAtMs ?? -Infinity) + policy.maxAgeMs;
    }
    if (failedAtMs > -Infinity) yield failedAtMs + policy.livenessMaxAgeMs;
    if (liveness !== null) yield liveness.sentAtMs + policy.livenessMaxAgeMs;
    if (lastHeldAtMs === null) continue;
    yield lastHeldAtMs + demotedForMs;
    yield lastHeldAtMs + Math.min(surviveMs, lockBoundMs(cluster));
  }
}

/** Whether an answer may show a figure that is another one a moment later. */
function isGrowing(view: ClusterView): boolean {
  const { cluster, policy, maxAgeMs, nowMs } = view;
  if (cluster.nodes.length > searchedMax) return true;
  const { handoverHoldMs } = policy.guards;
  if (cluster.leadership.lastLoss !== null && cluster.leadership.lastLoss.atMs + handoverHoldMs > nowMs) return true;
  return cluster.nodes.some((node) => {
    if (node.report === null) return false;
    if (node.exporter !== null && !isDatabaseAlive(node, policy, nowMs)) return true;
    if (node.claimedSinceMs !== null && node.claimedSinceMs + handoverHoldMs > nowMs) return true;
    return !isFresh(node, maxAgeMs, nowMs) || isTimeLagGrowing(cluster, node, view);
  });
}
