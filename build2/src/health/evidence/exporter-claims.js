import { isSenderTo } from "./report-from-exporter.js";
import { freshUntilMs, isFresh, maxAgeMs } from "./freshness.js";
import { isDifferentAddress } from "./identity.js";
/**
 * Whether a recent page proves that the node's database is alive: an exporter's `/up` keeps answering 200 while its
 * database is frozen.
 */
export function isDatabaseAlive(observation, policy, nowMs) {
    return nowMs < aliveUntilMs(observation, policy);
}
/** The instant from which no page proves that any more, in ms of rolecall's clock; -Infinity where none ever did. */
export function aliveUntilMs({ exporter }, policy) {
    return exporter === null ? -Infinity : exporter.provenAtMs + policy.pageMaxAgeMs;
}
/** Whether a claim counts. One known through an exporter alone needs a page that proves the database alive. */
export function isBelievableClaim(claim, policy, nowMs) {
    return claim.node.api !== null || isDatabaseAlive(claim, policy, nowMs);
}
/**
 * When a fresh claim that counts becomes too old to count, in ms of the monotonic clock. The same holds for a standby's
 * evidence.
 */
export function countsUntilMs(observation, maxAge, policy) {
    const freshMs = freshUntilMs(observation, maxAge);
    return observation.node.api === null ? Math.min(freshMs, aliveUntilMs(observation, policy)) : freshMs;
}
/** The claims that compete: a claim on the lock outranks those of nodes that are merely not in recovery. */
export function eligibleClaims(claims) {
    const locks = claims.filter(({ node }) => node.api !== null);
    return locks.length > 0 ? locks : claims;
}
/**
 * Returns which of several claimants without a cluster manager the standbys receive from; `null` if it is several, or
 * none. Timelines and the incumbent do not matter here.
 */
export function upstreamOfStandbys(cluster, claims, { policy, nowMs }) {
    const standbys = countingStandbys(cluster, { policy, nowMs });
    const feeding = claims.filter((claim) => standbys.some((standby) => feeds(cluster, claim, standby)));
    return feeding.length === 1 ? (feeding[0]?.node.name ?? null) : null;
}
/** When `upstreamOfStandbys` may change by age alone, in ms of the monotonic clock. */
export function upstreamUntilMs(cluster, context) {
    const maxAge = maxAgeMs(cluster, context.policy);
    const standbys = countingStandbys(cluster, context);
    return Math.min(...standbys.map((standby) => countsUntilMs(standby, maxAge, context.policy)));
}
function countingStandbys(cluster, { policy, nowMs }) {
    const maxAge = maxAgeMs(cluster, policy);
    return cluster.nodes.filter((node) => !node.hasLock && !node.isDown && isFresh(node, maxAge, nowMs) && isBelievableClaim(node, policy, nowMs));
}
/** Decides by the standby's own receiver if its page shows one, else by the claimant's sender list. */
function feeds(cluster, claim, standby) {
    const receiver = standby.exporter?.page?.receiver ?? null;
    if (receiver !== null && receiver.port !== null && claim.node.database !== null) {
        return (receiver.isStreaming && !isDifferentAddress({ host: receiver.host, port: receiver.port }, claim.node.database));
    }
    const senders = claim.exporter?.page?.senders ?? [];
    return senders.some((sender) => sender.isStreaming && isSenderTo(cluster, { sender, node: standby.node }));
}
//# sourceMappingURL=exporter-claims.js.map