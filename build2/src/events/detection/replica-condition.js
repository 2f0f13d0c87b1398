import { beginning } from "./condition.js";
import { countText, listText } from "./event-text.js";
/** How long a replica has to be unfit before the cluster counts as degraded, in ms: longer than a switchover. */
const degradedHoldMs = 10_000;
/** Reasons of a healthy replica: an operator or a setting keeps it out of the pool. */
const intended = new Set(["drained", "noloadbalance", "tag", "held_back"]);
/**
 * Returns whether a cluster is degraded: one of its standbys is not fit for a plain `/replica`, though nobody took it
 * out. While there is no primary this is not decided: which nodes are standbys is known afterwards.
 */
export function replicaCondition(facts) {
    const { cluster, nodes, primary } = facts;
    if (primary === null)
        return [];
    const standbys = nodes.filter(({ node, replica }) => node !== primary.node && !isIntended(replica));
    const unfit = standbys.filter(({ replica }) => replica !== "fit" && replica !== null);
    if (unfit.length === 0)
        return [];
    const fit = standbys.length - unfit.length;
    const count = `${fit === 0 ? "no fit replica" : countText(fit, "fit replica")} of ${standbys.length}`;
    const cause = listText(unfit.map(({ node, replica }) => `${node} is ${replica}`));
    return [
        {
            level: `${fit}/${standbys.length}`,
            begins: beginning({
                kind: "degraded",
                severity: fit === 0 ? "error" : "warning",
                cluster,
                message: `${cluster} has ${count}: ${cause}`,
                cause,
                figures: { fit_replicas: fit, replicas: standbys.length },
            }),
            holdMs: degradedHoldMs,
        },
    ];
}
function isIntended(replica) {
    return replica !== null && replica !== "fit" && intended.has(replica);
}
//# sourceMappingURL=replica-condition.js.map