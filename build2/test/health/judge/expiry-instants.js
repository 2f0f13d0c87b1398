import { lockBoundMs } from "../../../src/health/evidence/freshness.js";
/**
 * Every instant at which time alone may change a verdict, written by hand. The test compares the validity that the
 * rules report with it.
 */
export function expiryInstants(cluster, policy, check) {
    const { demotedForMs, surviveMs, handoverHoldMs } = policy.guards;
    const maxAgeMs = Math.min(policy.maxAgeMs, lockBoundMs(cluster));
    const instants = [cluster.newestReportAtMs + maxAgeMs];
    for (const { untilMs } of cluster.drains.values())
        instants.push(untilMs);
    if (cluster.leadership.lastLoss !== null)
        instants.push(cluster.leadership.lastLoss.atMs + handoverHoldMs);
    for (const { atMs } of cluster.positionSamples)
        instants.push(atMs + (check.lagTimeMsMax ?? 0));
    for (const { sentAtMs, lastHeldAtMs, liveness, failedAtMs, exporter, claimedSinceMs, measured } of cluster.nodes) {
        instants.push(sentAtMs + maxAgeMs, failedAtMs + policy.livenessMaxAgeMs);
        instants.push(measured?.heldUntilMs ?? -Infinity, (claimedSinceMs ?? -Infinity) + handoverHoldMs);
        instants.push((exporter?.provenAtMs ?? -Infinity) + policy.pageMaxAgeMs);
        instants.push((exporter?.up?.sentAtMs ?? -Infinity) + policy.maxAgeMs);
        instants.push((liveness?.sentAtMs ?? -Infinity) + policy.livenessMaxAgeMs);
        instants.push((lastHeldAtMs ?? -Infinity) + demotedForMs);
        instants.push((lastHeldAtMs ?? -Infinity) + Math.min(surviveMs, lockBoundMs(cluster)));
    }
    return instants;
}
//# sourceMappingURL=expiry-instants.js.map