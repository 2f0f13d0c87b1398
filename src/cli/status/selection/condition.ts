import type { StatusCluster, StatusNode } from "../../client/cluster-status.ts";

/** How well a node is, best first. A drained node is out of service on purpose, which is no problem. */
export const nodeConditionOrder = ["ok", "drained", "warning", "unfit"] as const;
export type NodeCondition = (typeof nodeConditionOrder)[number];

/** How well a cluster is, best first. */
export const clusterConditions = [
  "ok",
  "drained",
  "warning",
  "degraded",
  "without nodes",
  "blind",
  "without a primary",
] as const;
export type ClusterCondition = (typeof clusterConditions)[number];

/** Classifies a node. A warning is what counts against a node that is still fit. */
export function nodeCondition({ reason, warning, drain }: StatusNode): NodeCondition {
  if (reason === "drained" && drain !== null) return "drained";
  if (reason !== null) return "unfit";
  return warning === null ? "ok" : "warning";
}

/** Classifies a cluster by the worst of what is wrong with it. */
export function clusterCondition(cluster: StatusCluster): ClusterCondition {
  if (cluster.nodes.length === 0) return "without nodes";
  if (cluster.blind) return "blind";
  if (!hasPrimary(cluster)) return "without a primary";
  const worst = Math.max(...cluster.nodes.map((node) => nodeConditionOrder.indexOf(nodeCondition(node))));
  const condition = nodeConditionOrder[worst] ?? "ok";
  return condition === "unfit" ? "degraded" : condition;
}

/** Whether a condition needs the attention of an operator. */
export function isProblem(condition: NodeCondition | ClusterCondition): boolean {
  return condition !== "ok" && condition !== "drained";
}

function hasPrimary({ nodes }: StatusCluster): boolean {
  return nodes.some(({ verdicts }) => verdicts["primary"] === "fit" || verdicts["standby-leader"] === "fit");
}
