import type { Drain } from "../../cluster/drain.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

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
