import type { Drain } from "../../cluster/drain.ts";
import type { DrainOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { updateLeadership } from "./update-leadership.ts";

/**
 * Begins or ends a node's drain. When distrust begins or ends, it is decided anew who holds the lock: the node's claim
 * counts no longer, or again. A view that a distrusted node stated is forgotten.
 */
export function applyDrain(
  cluster: ClusterState,
  { node, drain }: DrainOutcome,
  context: EvaluationContext,
): ClusterState {
  const next = withDrains(cluster, node, { drain, nowMs: context.nowMs });
  const isDistrust = drain?.extent === "distrust";
  if (!isDistrust && cluster.drains.get(node)?.extent !== "distrust") return next;
  const leaderViews = new Map([...next.leaderViews].filter(([witness]) => !isDistrust || witness !== node));
  return updateLeadership(cluster, { ...next, leaderViews }, context);
}

/**
 * Begins a node's drain, or ends it with `null`. Expired drains of other nodes are removed, so that they cannot
 * accumulate.
 */
export function withDrains(
  cluster: ClusterState,
  node: string,
  change: { readonly drain: Drain | null; readonly nowMs: number },
): ClusterState {
  const drains = new Map([...cluster.drains].filter(([name, { untilMs }]) => name !== node && untilMs > change.nowMs));
  if (change.drain !== null) drains.set(node, change.drain);
  return { ...cluster, drains };
}
