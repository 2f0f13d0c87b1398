import type { ClusterState } from "../../cluster/snapshot.ts";
import type { HealthPolicy } from "../health-policy.ts";

/**
 * Remembers whose claim stood last (design.md, rule 2). Claims of one round (our own start, a thaw) are not ordered by the milliseconds
 * between their answers: while the last one's claim may only not have been heard again yet, another takes its place after half an interval.
 * @param nowMs ms of our clock
 */
export function withIncumbent(
  cluster: ClusterState,
  { policy, nowMs }: { readonly policy: HealthPolicy; readonly nowMs: number },
): ClusterState {
  const { lockHolder, incumbent, nodes, index } = cluster;
  if (lockHolder === null || lockHolder === incumbent) return cluster;
  const sinceMs = nodes[index.get(lockHolder) ?? -1]?.claimedSinceMs ?? Infinity;
  const isReplaced = hasGivenUp(cluster) || nowMs - sinceMs >= policy.intervalMs / 2;
  return isReplaced ? { ...cluster, incumbent: lockHolder } : cluster;
}

/** Whether the node that stood last was heard without a claim since, or does not answer. */
function hasGivenUp({ incumbent, nodes, index }: ClusterState): boolean {
  if (incumbent === null) return false;
  const before = nodes[index.get(incumbent) ?? -1];
  return (
    before === undefined || before.isDown || before.failuresInRow > 0 || (before.report !== null && !before.hasLock)
  );
}
