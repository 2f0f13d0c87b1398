import { walReached } from "./position.js";
import { freshLeader, isInSenderChain } from "./sender-chain.js";
/** Whether the report's timeline is lower than the leader's. `false` while either is unknown. */
export function isOnLowerTimeline(cluster, report) {
    const leaderTimeline = cluster.position?.timeline ?? null;
    return leaderTimeline !== null && report.timeline !== null && report.timeline < leaderTimeline;
}
/**
 * The WAL position at which the leader's history switched from the report's timeline to the next one; `null` while
 * unknown. A node that is past it on that timeline has WAL that the leader does not have.
 */
export function switchPointOf(cluster, report) {
    return report.timeline === null ? null : (cluster.switchPoints?.get(report.timeline) ?? null);
}
/**
 * Whether the node has WAL that is not in the leader's history (rule 6). This is so if the node was marked diverged
 * when an outcome was recorded. It is also so if its last report is past the switch point while there is no leader:
 * then there is no sender list that could show that the node streams on the new timeline by now.
 */
export function hasDiverged(view, observation) {
    if (observation.attachment.isDiverged)
        return true;
    return view.lock.holder === null && isPastSwitchPoint(view.cluster, observation);
}
/**
 * Until when the result of `hasDiverged` holds if no new evidence arrives, in ms of the monotonic clock. For a node
 * that is past the switch point but not marked diverged, it depends on whether there is a leader, which may change with
 * time.
 */
export function divergenceUntilMs(view, observation) {
    return !observation.attachment.isDiverged && isPastSwitchPoint(view.cluster, observation)
        ? view.lock.validUntilMs
        : Infinity;
}
/**
 * Applies rule 6 to a new report. A node is marked diverged if it is on a lower timeline without being listed, and
 *
 * - has been so for the attach window (this does not apply to exempt nodes), or
 * - is past the switch point while there is no leader, or
 * - is marked already, and its position is unknown or still past the switch point.
 *
 * Otherwise the mark is removed, except while the node's or the leader's timeline is unknown: then it stays.
 * @param countedMs the time since the node's previous report, in ms, if the leader's position is known; else 0
 */
export function nextDivergence(view, inputs, countedMs) {
    const { known, report, isLowerAndNotStreaming, isListed, isExempt } = inputs;
    // Without both timelines nothing can be compared, so the mark stays. The leader's is unknown right after a restart.
    const isComparable = report.timeline !== null && (view.cluster.position?.timeline ?? null) !== null;
    if (known.isDiverged && !isComparable)
        return { lowerTimelineMs: known.lowerTimelineMs, isDiverged: true };
    if (!isLowerAndNotStreaming || isListed())
        return { lowerTimelineMs: 0, isDiverged: false };
    const lowerTimelineMs = isExempt ? 0 : known.lowerTimelineMs + countedMs;
    const side = sideOfSwitchPoint(view.cluster, report);
    const isDiverged = lowerTimelineMs >= view.policy.guards.attachWindowMs ||
        (known.isDiverged && side !== "before") ||
        (side === "past" && view.lock.holder === null);
    return { lowerTimelineMs, isDiverged };
}
/**
 * Marks as diverged each node whose last report is past the switch point on a lower timeline, and which is not in the
 * leader's sender chain. Right after a promotion a replica still reports the old timeline although it streams on the
 * new one. So while there is a leader, the mark waits for a sender list that was requested after the node's report.
 * Without a leader there is nothing to wait for.
 */
export function markDiverged(cluster, viewOf) {
    if (!cluster.nodes.some((node) => !node.attachment.isDiverged && isPastSwitchPoint(cluster, node)))
        return cluster;
    const view = viewOf(cluster);
    const leader = freshLeader(view);
    let { nodes } = cluster;
    for (const [at, node] of cluster.nodes.entries()) {
        if (node.attachment.isDiverged || !isPastSwitchPoint(cluster, node))
            continue;
        // `freshLeader` leaves out a leader whose own query failed: its list is empty, which says nothing about the node.
        const isSenderListNewer = leader !== null && leader.sentAtMs > node.sentAtMs;
        const isDecidable = isSenderListNewer || view.lock.holder === null;
        if (isDecidable && !isInSenderChain(view, node.node.name))
            nodes = nodes.with(at, { ...node, attachment: { ...node.attachment, isDiverged: true } });
    }
    return nodes === cluster.nodes ? cluster : { ...cluster, nodes };
}
/** Whether the node's last report is on a lower timeline than the leader's, and past the switch point. */
function isPastSwitchPoint(cluster, { report }) {
    return report !== null && isOnLowerTimeline(cluster, report) && sideOfSwitchPoint(cluster, report) === "past";
}
/** Where the report's WAL ends: `before` includes the switch point itself; `null` while one of the two is unknown. */
function sideOfSwitchPoint(cluster, report) {
    const reached = walReached(report);
    const switchPoint = switchPointOf(cluster, report);
    if (reached === null || switchPoint === null)
        return null;
    return reached > switchPoint ? "past" : "before";
}
//# sourceMappingURL=divergence.js.map