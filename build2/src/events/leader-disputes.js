import { isDisputed, lockStatusAt } from "../health/evidence/lock-status.js";
/** An episode ends when nothing was disputed for this long, in ms. A dispute that flickers within it is one episode. */
const quietMs = 10_000;
/**
 * Finds the beginning of each episode in which it is undecided who leads. One log line per episode is enough, however
 * long it lasts.
 */
export class LeaderDisputes {
    #lastMs = new Map();
    /** Examines a new state of a cluster. @returns the dispute if a new episode begins, else `null` */
    find(cluster, { policy, nowMs }) {
        const isUndisputed = cluster.lockClaims.length === 1 && cluster.leadership.decision.kind === "held";
        if (cluster.lockClaims.length === 0 || isUndisputed || !isDisputed(cluster, policy, nowMs))
            return null;
        const isNew = nowMs - (this.#lastMs.get(cluster.name) ?? -Infinity) > quietMs;
        this.#lastMs.set(cluster.name, nowMs);
        if (!isNew)
            return null;
        const { holder, claims } = lockStatusAt(cluster, policy, nowMs);
        return { cluster: cluster.name, claims: claims.map(({ node }) => node.name), holder };
    }
}
//# sourceMappingURL=leader-disputes.js.map