import { clusterCondition, nodeCondition } from "./selection/condition.js";
import { explainClusterCommand, explainNodeCommand } from "./next-commands.js";
/**
 * Reports clusters without recent evidence or a primary, nodes that are unfit for the routes of their role, and nodes
 * with a warning.
 * @param source the options that say where the clusters are, for the commands to run next
 */
export function diagnoseClusters(result, clusters, source) {
    for (const cluster of clusters) {
        const name = cluster.cluster;
        const condition = clusterCondition(cluster);
        if (condition === "without nodes")
            result.diagnose("RC112", { message: `${name}: no node is known` });
        else if (condition === "blind")
            result.diagnose("RC052", { message: `${name}: no node has answered within max_age` });
        else if (condition === "without a primary") {
            const holder = cluster.leader === null ? "" : `, but ${cluster.leader} holds the lock`;
            result.diagnose("RC050", {
                message: `${name}: no node is fit for /primary${holder}`,
                action: `Run ${explainClusterCommand(cluster, source)}`,
            });
        }
        if (condition === "blind")
            continue;
        for (const node of cluster.nodes)
            diagnoseNode(result, { cluster, node, source });
    }
}
function diagnoseNode(result, { cluster, node, source }) {
    const { reason, detail, warning } = node;
    const name = `${cluster.cluster}/${node.node}`;
    const action = `Run ${explainNodeCommand(cluster, node, source)}`;
    if (reason === null) {
        if (warning !== null)
            result.diagnose("RC053", { message: `${name}: ${warning}`, action });
        return;
    }
    const cause = detail === null ? reason : `${reason} (${detail})`;
    const isIntended = nodeCondition(node) === "drained";
    result.diagnose("RC051", {
        message: `${name}: ${cause}`,
        action,
        ...(isIntended ? { severity: "info" } : {}),
    });
}
//# sourceMappingURL=diagnosis.js.map