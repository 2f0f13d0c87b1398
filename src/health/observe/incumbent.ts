import { nodeNamed } from "../../cluster/lookup.ts";
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
  const { lockHolder, incumbent } = cluster;
  if (lockHolder === null || lockHolder === incumbent) return cluster;
  const sinceMs = nodeNamed(cluster, lockHolder)?.claimedSinceMs ?? Infinity;
  const isReplaced = hasGivenUp(cluster) || nowMs - sinceMs >= policy.intervalMs / 2;
  return isReplaced ? { ...cluster, incumbent: lockHolder } : cluster;
}

/** Whether the node that stood last was heard without a claim since, or does not answer. */
function hasGivenUp(cluster: ClusterState): boolean {
  if (cluster.incumbent === null) return false;
  const before = nodeNamed(cluster, cluster.incumbent);
  return (
    before === undefined || before.isDown || before.failuresInRow > 0 || (before.report !== null && !before.hasLock)
  );
}
