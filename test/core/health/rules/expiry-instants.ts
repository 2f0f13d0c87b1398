import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import type { Check } from "../../../../src/core/health/check.ts";
import { lockBoundMs } from "../../../../src/core/health/evidence/node/freshness.ts";
import type { HealthPolicy } from "../../../../src/core/health/health-policy.ts";

/**
 * Every instant at which time alone may change a verdict, written by hand. The test compares the validity that the
 * rules report with it.
 */
export function expiryInstants(cluster: ClusterState, policy: HealthPolicy, check: Check): readonly number[] {
  const { demotedForMs, surviveMs, handoverHoldMs } = policy.guards;
  const maxAgeMs = Math.min(policy.maxAgeMs, lockBoundMs(cluster));
  const instants = [cluster.newestReportAtMs + maxAgeMs, cluster.position?.pageUntilMs ?? -Infinity];
  for (const { untilMs } of cluster.drains.values()) instants.push(untilMs);
  if (cluster.leadership.lastLoss !== null) instants.push(cluster.leadership.lastLoss.atMs + handoverHoldMs);
  for (const { atMs } of cluster.positionSamples) instants.push(atMs + (check.lagTimeMsMax ?? 0));
  instants.push(...holdEnds(cluster));
  for (const { sentAtMs, lastHeldAtMs, liveness, failedAtMs, exporter, claimedSinceMs, measured } of cluster.nodes) {
    instants.push(sentAtMs + maxAgeMs, failedAtMs + policy.livenessMaxAgeMs);
    instants.push(measured?.heldUntilMs ?? -Infinity, (claimedSinceMs ?? -Infinity) + handoverHoldMs);
    instants.push((exporter?.provenAtMs ?? -Infinity) + policy.pageMaxAgeMs);
    instants.push((exporter?.up?.sentAtMs ?? -Infinity) + policy.maxAgeMs);
    instants.push((liveness?.sentAtMs ?? -Infinity) + policy.livenessMaxAgeMs);
    const demotedMs = check.isForSessions ? Math.max(demotedForMs, 60_000) : demotedForMs;
    instants.push((lastHeldAtMs ?? -Infinity) + demotedMs);
    // The grace of `survive`, without and with views that confirm the lock.
    const heldAtMs = lastHeldAtMs ?? -Infinity;
    instants.push(heldAtMs + Math.min(surviveMs, lockBoundMs(cluster)), heldAtMs + surviveMs);
  }
  for (const { companions } of cluster.nodes)
    for (const { sentAtMs } of companions.values()) instants.push(sentAtMs + policy.maxAgeMs);
  for (const { sentAtMs } of cluster.leaderViews.values()) instants.push(sentAtMs + policy.viewMaxAgeMs);
  return instants;
}

/** When a hold may end: its time counts from the last statement or from a view, and free time is left out. */
function holdEnds({ config, lastStatement, leaderViews }: ClusterState): readonly number[] {
  if (lastStatement === null) return [];
  const limitMs = config === null ? 50_000 : config.ttlMs + config.loopWaitMs + config.retryTimeoutMs;
  const { countsFromMs, free } = lastStatement;
  const freeMs = free === null ? 0 : free.untilMs - free.fromMs;
  const views = [...leaderViews.values()].map(({ sentAtMs }) => sentAtMs);
  return [countsFromMs, countsFromMs + freeMs, ...views].map((atMs) => atMs + limitMs);
}
