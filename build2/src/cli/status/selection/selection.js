import { clusterCondition, isProblem, nodeCondition } from "./condition.js";
import { sortClusters, statusOrders } from "./sorting.js";
/** What a command line selects: `--problems` and `--sort`. */
export function selectionOf(args) {
    const order = statusOrders.find((known) => known === args.text("sort")) ?? "problem";
    return { order, problemsOnly: args.has("problems"), query: "" };
}
/** Selects and sorts the clusters to show, and the nodes of each. */
export function selectClusters(clusters, { order, problemsOnly, query }) {
    const shown = clusters
        .map((cluster) => ({
        cluster,
        condition: clusterCondition(cluster),
        fitNodes: cluster.nodes.filter(({ reason }) => reason === null).length,
        nodes: cluster.nodes,
    }))
        .filter(({ condition }) => !problemsOnly || isProblem(condition))
        .map((row) => (problemsOnly ? withProblemsOnly(row) : row))
        .flatMap((row) => matching(row, query.toLowerCase()));
    return sortClusters(shown, order);
}
/** Keeps the nodes with a problem. A cluster that is down as a whole keeps all: each of them may be the cause. */
function withProblemsOnly(row) {
    return row.condition === "degraded" || row.condition === "warning"
        ? { ...row, nodes: row.nodes.filter((node) => isProblem(nodeCondition(node))) }
        : row;
}
function matching(row, query) {
    if (row.cluster.cluster.toLowerCase().includes(query))
        return [row];
    const nodes = row.nodes.filter(({ node }) => node.toLowerCase().includes(query));
    return nodes.length === 0 ? [] : [{ ...row, nodes }];
}
//# sourceMappingURL=selection.js.map