/** How well a node is, best first. A drained node is out of service on purpose, which is no problem. */
export const nodeConditionOrder = ["ok", "drained", "warning", "unfit"];
/** How well a cluster is, best first. */
export const clusterConditions = [
    "ok",
    "drained",
    "warning",
    "degraded",
    "without nodes",
    "blind",
    "without a primary",
];
/** Classifies a node. A warning is what counts against a node that is still fit. */
export function nodeCondition({ reason, warning, drain }) {
    if (reason === "drained" && drain !== null)
        return "drained";
    if (reason !== null)
        return "unfit";
    return warning === null ? "ok" : "warning";
}
/** Classifies a cluster by the worst of what is wrong with it. */
export function clusterCondition(cluster) {
    if (cluster.nodes.length === 0)
        return "without nodes";
    if (cluster.blind)
        return "blind";
    if (!hasPrimary(cluster))
        return "without a primary";
    const worst = Math.max(...cluster.nodes.map((node) => nodeConditionOrder.indexOf(nodeCondition(node))));
    const condition = nodeConditionOrder[worst] ?? "ok";
    return condition === "unfit" ? "degraded" : condition;
}
/** Whether a condition needs the attention of an operator. */
export function isProblem(condition) {
    return condition !== "ok" && condition !== "drained";
}
function hasPrimary({ nodes }) {
    return nodes.some(({ verdicts }) => verdicts["primary"] === "fit" || verdicts["standby-leader"] === "fit");
}
//# sourceMappingURL=condition.js.map