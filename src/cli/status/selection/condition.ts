import { nodeConditions } from "../../../health/documents/node-overview.ts";
import { clusterConditions } from "../../../health/documents/situation.ts";

/** Whether a condition needs the attention of an operator. One that this version does not know does. */
export function isProblem(condition: string): boolean {
  return condition !== "ok" && condition !== "drained";
}

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
