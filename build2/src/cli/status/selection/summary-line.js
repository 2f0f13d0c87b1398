import { formatDuration } from "../../output/figures.js";
import { clusterCondition, clusterConditions } from "./condition.js";
/** Counts the clusters by condition, and the nodes that are fit for their role. */
export function summarizeStatus(clusters) {
    const conditions = clusters.map(clusterCondition);
    const counts = clusterConditions.map((kind) => [kind, conditions.filter((one) => one === kind).length]);
    const nodes = clusters.flatMap((cluster) => cluster.nodes);
    const fitSoFar = nodes.filter(({ reason }) => reason === null);
    const fit = fitSoFar.filter(({ attachment }) => attachment !== "not known");
    return {
        clusters: clusters.length,
        conditions: Object.fromEntries(counts.filter(([, count]) => count > 0)),
        nodes: nodes.length,
        fit_nodes: fit.length,
        not_known_nodes: fitSoFar.length - fit.length,
        oldest_evidence_ms: oldestAge(fitSoFar),
    };
}
/** Renders the figures: `40 clusters: 37 ok, 2 degraded, 1 blind; 118 of 120 nodes fit; oldest evidence 1.2 s`. */
export function summaryLine({ clusters, conditions, nodes, fit_nodes: fit, not_known_nodes: notKnown, oldest_evidence_ms: age, }) {
    if (clusters === 0)
        return "no clusters";
    const counts = clusterConditions.flatMap((kind) => conditions[kind] === undefined ? [] : [`${conditions[kind]} ${labels[kind]}`]);
    return [
        `${clusterCount(clusters)}: ${counts.join(", ")}`,
        `${fit} of ${nodes} ${nodes === 1 ? "node" : "nodes"} fit${notKnown === 0 ? "" : `, ${notKnown} not known`}`,
        ...(age === null ? [] : [`oldest evidence ${formatDuration(age)}`]),
    ].join("; ");
}
/** Formats a number of clusters: `1 cluster`, `40 clusters`. */
export function clusterCount(count) {
    return count === 1 ? "1 cluster" : `${count} clusters`;
}
const labels = {
    ok: "ok",
    drained: "with drained nodes",
    warning: "with warnings",
    degraded: "degraded",
    "without nodes": "without nodes",
    blind: "blind",
    "without a primary": "without a primary",
};
function oldestAge(nodes) {
    return nodes.reduce((oldest, { age_ms: age }) => (age === null ? oldest : Math.max(oldest ?? 0, age)), null);
}
//# sourceMappingURL=summary-line.js.map