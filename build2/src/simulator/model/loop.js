import { modelHoldsLock, leaderOf } from "./cluster.js";
import { attach, begin, end } from "./transitions.js";
import { isSource } from "./node.js";
import { candidateOf, race } from "./race.js";
import { replicationState } from "./replication.js";
import { pendingParameters } from "./parameters.js";
import { restartMatches } from "./restart.js";
/**
 * Runs a node's HA loop once: renews or races for the lock, follows the cluster's requests, and writes its member
 * key.
 */
export function runLoop(cluster, node) {
    const { nowMs } = cluster;
    if (modelHoldsLock(cluster, node))
        lead(cluster, node);
    else
        follow(cluster, node);
    const restart = node.scheduledRestart;
    if (restart !== undefined && restart.atMs <= nowMs && node.transition === undefined) {
        node.scheduledRestart = undefined;
        if (restartMatches(node, restart.filters))
            begin(cluster, node, "restarting");
    }
    node.pendingRestart = pendingParameters(node.parameters, cluster.settings.parameters);
    node.lastLoopAtMs = nowMs;
    node.nextLoopAtMs = nextLoop(cluster, node);
    node.member = memberKey(cluster, node);
}
function lead(cluster, node) {
    const { nowMs, settings, failover } = cluster;
    cluster.lock = { holder: node.name, renewedAtMs: nowMs };
    if (isSource(node))
        cluster.leaderLsn = node.receivedLsn;
    if (node.transition !== undefined)
        return;
    if (settings.standbyCluster && node.role === "primary") {
        node.role = "standby_leader";
        begin(cluster, node, "restarting");
    }
    else if (!settings.standbyCluster && node.role !== "primary") {
        begin(cluster, node, "promoting");
    }
    else if (failover !== undefined && (failover.scheduledAtMs ?? 0) <= nowMs) {
        const isMine = failover.leader === undefined || failover.leader === node.name;
        if (isMine && candidateOf(cluster, failover) !== undefined)
            begin(cluster, node, "handing over");
        else
            cluster.failover = undefined;
    }
}
function follow(cluster, node) {
    if (cluster.lock === undefined) {
        race(cluster);
        return;
    }
    // A primary that finds another holder has lost the lock: it stops, and starts again as a replica.
    const hasLost = node.role === "primary" || node.role === "standby_leader";
    if (node.transition?.kind === "promoting")
        end(cluster, node);
    if (node.transition !== undefined)
        return;
    if (hasLost)
        begin(cluster, node, "demoting");
    else if (leaderOf(cluster)?.state === "running")
        attach(cluster, node);
}
function nextLoop(cluster, node) {
    const { nowMs, failover } = cluster;
    const plans = [modelHoldsLock(cluster, node) ? failover?.scheduledAtMs : undefined, node.scheduledRestart?.atMs];
    const ahead = plans.filter((atMs) => atMs !== undefined && atMs > nowMs);
    return Math.min(nowMs + cluster.settings.loopWaitMs, ...ahead);
}
function memberKey(cluster, node) {
    const isUp = node.state === "running";
    const isReplica = node.role !== "primary";
    return {
        writtenAtMs: cluster.nowMs,
        state: node.state,
        timeline: isUp ? node.timeline : undefined,
        replicationState: replicationState(cluster, node),
        location: isUp && !isReplica ? node.receivedLsn : undefined,
        received: isUp && isReplica ? node.receivedLsn : undefined,
        replayed: isUp && isReplica ? node.replayedLsn : undefined,
        pendingRestart: node.pendingRestart,
        scheduledRestart: node.scheduledRestart,
    };
}
//# sourceMappingURL=loop.js.map