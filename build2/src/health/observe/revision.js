import { isFresh, maxAgeMs } from "../evidence/freshness.js";
/**
 * The fields of a cluster that may differ while only ages change. Every other field, a new one too, must be the same
 * object. Nodes and position samples are compared separately.
 */
const ageingFields = new Set([
    "sequence",
    "revision",
    "nodes",
    "positionSamples",
    "newestReportAtMs",
]);
/**
 * The same for a node. The count of answers and the time of the last lock do not matter for a node that answers. The
 * heartbeat and the lag samples are compared separately.
 */
const ageingNodeFields = new Set([
    "sentAtMs",
    "sentAtWallMs",
    "countedAtMs",
    "answersInRow",
    "lastHeldAtMs",
    "liveness",
    "dampedLag",
]);
/**
 * Whether an outcome changed nothing but the age of a report, so that a verdict on the state before also holds for the
 * state after, until it expires (`validUntilMs`). If in doubt, it changed something: a node that was no longer fresh,
 * or that has an exporter, is judged by the exact instant of its report.
 * @param context with the instant of recording
 */
export function isAgeOnlyChange(before, after, { policy, nowMs }) {
    if (before.nodes.length !== after.nodes.length || !isSameExcept(before, after, ageingFields))
        return false;
    if (!isSameTrack(before.positionSamples, after.positionSamples))
        return false;
    const maxAge = maxAgeMs(before, policy);
    for (let at = 0; at < after.nodes.length; at += 1) {
        const [was, is] = [before.nodes[at], after.nodes[at]];
        if (was === is || was === undefined || is === undefined)
            continue;
        // A report that was too old is fresh again, which changes verdicts.
        if (!isFresh(was, maxAge, nowMs) || !isSameEvidence(was, is))
            return false;
    }
    return true;
}
function isSameEvidence(was, is) {
    if (is.report === null || is.exporter !== null)
        return false;
    return (isSameExcept(was, is, ageingNodeFields) &&
        isSameHeartbeat(was.liveness, is.liveness) &&
        isSameLag(was.dampedLag, is.dampedLag));
}
/** Whether all fields but the given ones hold the same values. */
function isSameExcept(was, is, ageing) {
    for (const key in is)
        if (!ageing.has(key) && was[key] !== is[key])
            return false;
    return true;
}
/** A repeated failure of the heartbeat would count again after it had expired. */
function isSameHeartbeat(was, is) {
    return was === is || (was !== null && is !== null && was.isAlive && is.isAlive);
}
function isSameLag(was, is) {
    return was === is || (was !== null && is !== null && was.bytes === is.bytes && was.timeMs === is.timeMs);
}
/** Whether the leader's position is unchanged: its last sample may only have a later instant. */
function isSameTrack(was, is) {
    return was === is || (was.length === is.length && was.at(-1)?.position === is.at(-1)?.position);
}
//# sourceMappingURL=revision.js.map