import { blindFromMs, maxAgeMs } from "./freshness.js";
import { lockStatusAt } from "./lock-status.js";
/**
 * Returns a cluster's evidence at an instant, in ms of rolecall's clock. The lock holder was decided when the last
 * outcome was recorded.
 */
export function viewAt(cluster, policy, nowMs) {
    return viewWithLeader(cluster, lockStatusAt(cluster, policy, nowMs), { policy, nowMs });
}
/** The same with a lock status that was just decided. */
export function viewWithLeader(cluster, lock, { policy, nowMs }) {
    const blindMs = blindFromMs(cluster, policy);
    return {
        cluster,
        policy,
        nowMs,
        maxAgeMs: maxAgeMs(cluster, policy),
        lock,
        isBlind: nowMs >= blindMs,
        blindFromMs: blindMs,
    };
}
/** Whether no member list of a cluster was received, so that none of its nodes is known. */
export function isUndiscovered({ nodes, isMembershipKnown }) {
    return nodes.length === 0 && !isMembershipKnown;
}
//# sourceMappingURL=cluster-view.js.map