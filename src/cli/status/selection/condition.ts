import { clusterConditions, nodeConditions } from "../../../core/health/conditions/cluster-condition.ts";

/** How bad the condition of a cluster is: the worst is the highest. One that this version does not know is the worst. */
export function clusterSeverity(condition: string): number {
  return severityIn(clusterConditions, condition);
}

/** The same of a node. */
export function nodeSeverity(condition: string): number {
  return severityIn(nodeConditions, condition);
}

function severityIn(worstFirst: readonly string[], condition: string): number {
  const at = worstFirst.indexOf(condition);
  return worstFirst.length - at;
}
