import { drainOf } from "../../health/evidence/active-drain.js";
import { isUndiscovered } from "../../health/evidence/cluster-view.js";
import { isFresh } from "../../health/evidence/freshness.js";
import { lagBytes } from "../../health/evidence/measure.js";
import { acceptedPrimary } from "../../health/explain/accepted-primary.js";
import { attachmentWarning } from "../../health/explain/attachment-warning.js";
/**
 * Reads the facts of a cluster.
 * @param summaries the last summary of each node that was judged
 */
export function factsOf(view, summaries) {
    const { cluster, nowMs, policy } = view;
    const { nodes } = cluster;
    const fresh = nodes.filter((node) => !node.isDown && isFresh(node, view.maxAgeMs, nowMs));
    return {
        cluster: cluster.name,
        nowMs,
        isBlind: view.isBlind || isUndiscovered(cluster),
        primary: primaryOf(view),
        claims: claimsOf(view),
        isPaused: fresh.some(({ report }) => report?.isPaused === true),
        isFailsafe: fresh.some(({ report }) => report?.isFailsafe === true),
        nodes: nodes.map((observation) => ({
            node: observation.node.name,
            isDown: observation.isDown,
            mark: policy.guards.attachedReplica ? markOf(observation) : null,
            replica: replicaOf(view, observation, summaries),
            observation,
        })),
        view,
    };
}
/** How far a node lags and what speaks against its attachment, as figures of an event. */
export function attachmentFigures({ view }, observation) {
    return { warning: attachmentWarning(view, observation), lagBytes: lagBytes(view, observation) };
}
/** Whether nothing is known of a cluster's nodes, since none of several answers. */
export function isHidden({ cluster, isBlind }) {
    const { nodes } = cluster;
    return isBlind || isUndiscovered(cluster) || (nodes.length > 1 && !nodes.some(isAnswering));
}
/** Whether every node was probed since an instant, in ms of rolecall's clock. */
export function isProbedSince({ cluster: { nodes } }, sinceMs) {
    return nodes.every(({ sentAtMs, failedAtMs }) => Math.max(sentAtMs, failedAtMs) >= sinceMs);
}
/** Whether a node answered its last probe. */
export function isAnswering({ report, failuresInRow }) {
    return report !== null && failuresInRow === 0;
}
function primaryOf(view) {
    const observation = acceptedPrimary(view);
    if (observation === null)
        return null;
    const { node, report, sentAtMs } = observation;
    return {
        node: node.name,
        isStandbyLeader: report?.role === "standby_leader",
        timeline: report?.timeline ?? null,
        system: report?.system ?? null,
        sentAtMs,
    };
}
function claimsOf({ cluster, lock, policy }) {
    const { claims, holder } = lock;
    const newestMs = Math.max(...claims.map(({ claimedSinceMs }) => claimedSinceMs ?? -Infinity));
    const [sole] = claims;
    const lost = sole === undefined ? undefined : cluster.leadership.lostClaims.get(sole.node.name);
    const isConflict = claims.length > 1
        ? claims.every(({ sentAtMs }) => sentAtMs >= newestMs)
        : sole !== undefined && lost !== undefined && sole.sentAtMs > conflictFromMs(lost, policy);
    return { nodes: claims.map(({ node }) => node.name), holder, isConflict };
}
/**
 * From when on a claim that goes on conflicts with its loss. A leader that stops may answer once more after its key has
 * gone.
 */
function conflictFromMs({ viewMs, withdrawal }, { intervalMs }) {
    return withdrawal === undefined ? viewMs : Math.max(viewMs, withdrawal.readAtMs + intervalMs);
}
function markOf({ attachment }) {
    if (attachment.isDiverged)
        return "diverged";
    if (attachment.isDetached)
        return "detached";
    return attachment.isStalled ? "stalled" : null;
}
/** A summary is as old as the node's last probe; a drain may be newer, and is not asked for there. */
function replicaOf({ cluster, nowMs }, { node }, summaries) {
    if (drainOf(cluster, node.name, nowMs) !== null)
        return "drained";
    const known = summaries.get(node.name)?.summary.replica ?? null;
    // The drain is over, and the node was not probed since.
    return known === "drained" ? null : known;
}
//# sourceMappingURL=cluster-facts.js.map