import { aliveUntilMs } from "../evidence/exporter-claims.js";
import { lockBoundMs } from "../evidence/freshness.js";
import { identityMismatch } from "../evidence/identity.js";
/**
 * The routes on which a primary keeps its yes while its API does not answer: those that require or accept a primary.
 */
const routesWithGrace = new Set([
    "primary",
    "leader",
    "read-only",
    "read-only-sync",
    "read-only-quorum",
]);
/** No grace, and none by the passing of time. */
const none = { isGranted: false, validUntilMs: Infinity };
/** Whether a node without a fresh report keeps its yes on a route by its exporter's evidence. */
export function graceOn(view, observation, route) {
    const { report, node } = observation;
    // Without an API there is no lock that could last: the exporter is the only source, and has rules of its own.
    if (view.policy.guards.surviveMs === 0 || node.api === null || !routesWithGrace.has(route))
        return none;
    const wasPrimary = report?.role === "primary" &&
        report.state === "running" &&
        identityMismatch(view.cluster, observation, view.policy) === null;
    return wasPrimary ? graceOf(view, observation, exporterEvidenceOf(observation, view.policy)) : none;
}
/** What the exporter last showed; `null` where `/up` or `/metrics` never answered, or the exporter is a pooler's. */
function exporterEvidenceOf(observation, policy) {
    const { exporter } = observation;
    if (exporter === null || exporter.up === null || exporter.page === null || exporter.page.isPooler)
        return null;
    return {
        isPrimary: exporter.up.role === "primary" && exporter.page.isInRecovery === false,
        standbysStreaming: exporter.page.streaming ?? 0,
        freshUntilMs: Math.min(exporter.up.sentAtMs + policy.maxAgeMs, aliveUntilMs(observation, policy)),
    };
}
/**
 * Whether a primary keeps its yes although its API hangs or is dead (guard `survive`, the one exception to rule 1): its
 * exporter's fresh rows still show a primary with standbys streaming, no other node claims the lock, and no cluster
 * document names another leader. Never longer than the lock itself is sure to last: ttl - loop_wait - retry_timeout
 * after the sending of the last probe that saw it.
 */
export function graceOf(view, observation, exporter) {
    const { surviveMs } = view.policy.guards;
    const { hasLock, lastHeldAtMs, node } = observation;
    if (surviveMs === 0 || exporter === null || !hasLock || lastHeldAtMs === null)
        return none;
    if (!exporter.isPrimary || exporter.standbysStreaming === 0)
        return none;
    const boundMs = lastHeldAtMs + Math.min(surviveMs, lockBoundMs(view.cluster));
    const untilMs = Math.min(boundMs, exporter.freshUntilMs);
    if (view.nowMs >= untilMs)
        return none;
    const isNamedElsewhere = [...view.cluster.leaderViews.values()].some(({ names, sentAtMs }) => sentAtMs > lastHeldAtMs && names !== null && names !== node.name);
    if (isNamedElsewhere)
        return none;
    // Another's claim can grow too old to count, and then the grace is back.
    const isClaimedElsewhere = view.lock.claims.some((claim) => claim.node.name !== node.name);
    return isClaimedElsewhere
        ? { isGranted: false, validUntilMs: Math.min(untilMs, view.lock.validUntilMs) }
        : { isGranted: true, validUntilMs: untilMs };
}
//# sourceMappingURL=api-outage-grace.js.map