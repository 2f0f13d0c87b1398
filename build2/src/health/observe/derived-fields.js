import { nextAttachment, restartWindow } from "../evidence/attachment.js";
import { isDamping, withLagSample } from "../evidence/damping.js";
import { isOnLowerTimeline } from "../evidence/divergence.js";
import { lagBytes, measure } from "../evidence/measure.js";
import { viewWithLeader } from "../evidence/cluster-view.js";
import { isListedStreaming } from "../evidence/sender-chain.js";
import { timeLagMs } from "../evidence/time-lag.js";
/**
 * Derives what a node's report shows in relation to the cluster: its distance to the leader's position (rule 4), its
 * signs of attachment (rules 5 and 6), and its damped lag, if damping is on.
 * @param pair the node's observation before and after the report
 * @param context the policy, the instant of recording, and who holds the lock with the report
 */
export function deriveNodeFields(cluster, pair, context) {
    const { before, after } = pair;
    const { report, sentAtMs, node } = after;
    if (report === null)
        return after;
    const view = viewWithLeader(cluster, context.lock, context);
    const measured = measure(cluster, {
        before,
        report,
        isStreaming: () => isListedStreaming(view, node.name),
        ...context,
    });
    const attachment = nextAttachment(view, pair);
    const derived = { ...after, measured, attachment, countedAtMs: Math.max(sentAtMs, before.countedAtMs) };
    return { ...derived, dampedLag: dampedLagOf(cluster, derived, context) };
}
/**
 * Measures again every node that a new sender list shows streaming although its last report has a lower timeline
 * (rule 4): until its next report the list is the only evidence of its timeline. Its report is older than the list, so
 * it is measured against the leader's position before the list, if that was on the leader's timeline.
 * @param cluster the state with the list
 * @param lister the node whose report contains the list
 * @param known the leader's position before that report
 */
export function withListedMeasured(cluster, { lister, known }, context) {
    const { position } = cluster;
    if (position === null || lister.report === null || lister.report.senders.length === 0)
        return cluster;
    const view = viewWithLeader(cluster, context.lock, context);
    const highest = known !== null && known.timeline === position.timeline && known.system === position.system
        ? known.highest
        : position.highest;
    const then = { ...cluster, position: { ...position, highest } };
    let { nodes } = cluster;
    for (const [at, before] of cluster.nodes.entries()) {
        const { report, node } = before;
        if (report === null || !isUnmeasured(cluster, before) || !isListedStreaming(view, node.name))
            continue;
        nodes = nodes.with(at, {
            ...before,
            measured: measure(then, { before, report, isStreaming: () => true, ...context }),
        });
    }
    return nodes === cluster.nodes ? cluster : { ...cluster, nodes };
}
/** Whether a replica's last report is on a lower timeline, and was not measured on the leader's. */
function isUnmeasured(cluster, { report, measured, attachment }) {
    if (report === null || report.role === "primary" || attachment.isDiverged || !isOnLowerTimeline(cluster, report))
        return false;
    return measured?.timeline !== cluster.position?.timeline;
}
/** Restarts the attachment windows of all nodes, after a change of leader or timeline. */
export function restartWindows(cluster, nowMs) {
    return { ...cluster, nodes: cluster.nodes.map((node) => restartWindow(node, nowMs)) };
}
function dampedLagOf(cluster, after, context) {
    if (!isDamping(context.policy))
        return null;
    const sample = {
        sentAtMs: after.sentAtMs,
        bytes: lagBytes({ cluster, nowMs: context.nowMs }, after),
        timeMs: timeLagMs(cluster, after, context),
    };
    return withLagSample(after.dampedLag, sample, context.policy);
}
//# sourceMappingURL=derived-fields.js.map