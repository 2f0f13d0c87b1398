import { lastUncontestedLeaderOf } from "../cluster/leadership.js";
import { viewAt } from "../health/evidence/cluster-view.js";
import { nodeOverview } from "../health/explain/overview.js";
import { timedSummary } from "../health/explain/summary.js";
/** Finds what changed from one state of a cluster to the next. Keeps one summary of each node. */
export class VerdictChanges {
    #known = new Map();
    /**
     * Examines a new state of a cluster. To be called for every change.
     * @returns one change for each node with a new summary
     */
    find(before, after, { policy, nowMs }) {
        // Verdicts depend on who leads: if that changed every node is examined, otherwise only the one with a new
        // observation.
        const isAll = lastUncontestedLeaderOf(before.leadership) !== lastUncontestedLeaderOf(after.leadership) ||
            before.lockClaims !== after.lockClaims;
        const known = this.#summariesOf(after);
        const { revision } = after;
        const observed = after.nodes.filter((node, at) => (isAll || node !== before.nodes[at]) && isProbed(node));
        const outdated = observed.filter(({ node: { name } }) => {
            const last = known.get(name);
            return last === undefined || last.revision !== revision || nowMs >= last.validUntilMs;
        });
        if (outdated.length === 0)
            return [];
        const view = viewAt(after, policy, nowMs);
        const changes = [];
        for (const observation of outdated) {
            const { name } = observation.node;
            const { summary, validUntilMs } = timedSummary(view, observation);
            const last = known.get(name)?.summary ?? null;
            known.set(name, { summary, validUntilMs, revision });
            if (last !== null && isSame(last, summary))
                continue;
            const { reason, detail, lag_bytes: lagBytes } = nodeOverview(view, observation);
            changes.push({
                cluster: after.name,
                node: name,
                before: last,
                after: summary,
                failure: observation.failure?.detail ?? null,
                reason,
                detail,
                lagBytes,
            });
        }
        return changes;
    }
    /** The last summary of each node of a cluster that was examined. */
    summaries(cluster) {
        return this.#known.get(cluster) ?? new Map();
    }
    /** The summaries of one cluster's nodes. Drops those of removed nodes. */
    #summariesOf(cluster) {
        let known = this.#known.get(cluster.name);
        if (known === undefined)
            this.#known.set(cluster.name, (known = new Map()));
        if (known.size > cluster.nodes.length) {
            for (const name of known.keys())
                if (!cluster.index.has(name))
                    known.delete(name);
        }
        return known;
    }
}
/** Whether the node answered or failed at least once. */
function isProbed({ report, failuresInRow }) {
    return report !== null || failuresInRow > 0;
}
function isSame(one, other) {
    return (one.role === other.role &&
        one.isReachable === other.isReachable &&
        one.primary === other.primary &&
        one.replica === other.replica);
}
//# sourceMappingURL=verdict-changes.js.map