import { isFresh } from "../evidence/freshness.js";
import { settleLock } from "../evidence/lock-status.js";
import { advancePosition, hasPosition } from "../evidence/position.js";
import { carriedSamples, withSample } from "../evidence/time-lag.js";
import { deriveNodeFields, withListedMeasured } from "./derived-fields.js";
/** Returns the state with another observation of the node at the index `at`. */
export function replaceNode(cluster, at, observation) {
    return { ...cluster, nodes: cluster.nodes.with(at, observation) };
}
/**
 * Records an answer in a node's observation: failures end, and `rise` answers in a row bring a node back from `down`.
 */
export function withAnswer(before, answer, { policy, maxAge }) {
    const answersInRow = before.answersInRow + 1;
    return {
        ...before,
        ...answer,
        claimedSinceMs: claimedSince(before, answer, maxAge),
        lastHeldAtMs: answer.hasLock ? answer.sentAtMs : before.lastHeldAtMs,
        failuresInRow: 0,
        answersInRow,
        failure: null,
        isDown: before.isDown && answersInRow < policy.rise,
    };
}
/**
 * A claim is a series of 200s. Silence longer than `max_age` interrupts it: another node may have held the lock
 * meanwhile.
 */
function claimedSince(before, { hasLock, sentAtMs }, maxAge) {
    if (!hasLock)
        return null;
    const isContinued = before.claimedSinceMs !== null && isFresh(before, maxAge, sentAtMs);
    return isContinued ? before.claimedSinceMs : sentAtMs;
}
/**
 * Records the lock that an answer came with, without anything that depends on the leader's position.
 * @returns the state with the observation, its lock claims and the time of its newest report
 */
export function withLockClaim(cluster, at, observation) {
    const { hasLock, sentAtMs } = observation;
    return {
        ...replaceNode(cluster, at, observation),
        lockClaims: lockClaimsWith(cluster.lockClaims, at, hasLock),
        newestReportAtMs: Math.max(cluster.newestReportAtMs, sentAtMs),
    };
}
function lockClaimsWith(claims, at, hasLock) {
    if (claims.includes(at) === hasLock)
        return claims;
    return hasLock ? [...claims, at] : claims.filter((index) => index !== at);
}
/**
 * Derives from one node's report what it shows of the cluster (scope, lock claims, the leader's position) and of the
 * node itself.
 */
export function applyReport(cluster, { at, before, observation }, context) {
    const { policy, nowMs } = context;
    const { report, sentAtMs, node } = observation;
    const scope = cluster.scope ?? report?.scope ?? null;
    const claimed = { ...withLockClaim(cluster, at, observation), scope };
    // Nothing below changes who leads, so the lock is settled once.
    const lock = settleLock(claimed, policy, nowMs);
    const isHolder = lock.holder === node.name;
    const position = advancePosition(claimed, { before, observation, holder: lock.holder, nowMs }, policy);
    // A leader that reports no position (its own query failed) may have advanced meanwhile.
    const isMeasured = isHolder && report !== null && hasPosition(report);
    const carried = carriedSamples(claimed, position, isMeasured ? before : null);
    const positionSamples = isMeasured ? withSample(carried, position, sentAtMs) : carried;
    const measured = { ...claimed, position, positionSamples };
    const derivation = { policy, nowMs, lock };
    const derived = deriveNodeFields(measured, { before, after: observation }, derivation);
    const replaced = replaceNode(measured, at, derived);
    return {
        state: withListedMeasured(replaced, { lister: observation, known: cluster.position }, derivation),
        lock,
    };
}
//# sourceMappingURL=apply-report.js.map