import { lockHolderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { EvaluationContext } from "../health-policy.ts";

/**
 * Makes the lock holder the incumbent (rule 2). Claims of one round (our own start, a thaw) are not ordered by the
 * milliseconds between their answers: unless the incumbent gave up its claim, another node replaces it only after it
 * has held the lock for half an interval.
 */
export function withIncumbent(cluster: ClusterState, { policy, nowMs }: EvaluationContext): ClusterState {
  const holder = lockHolderOf(cluster.leadership);
  if (holder === null || holder === cluster.leadership.incumbent) return cluster;
  const claimedSinceMs = nodeNamed(cluster, holder)?.claimedSinceMs ?? Infinity;
  const isReplaced = hasGivenUp(cluster) || nowMs - claimedSinceMs >= policy.intervalMs / 2;
  return isReplaced ? { ...cluster, leadership: { ...cluster.leadership, incumbent: holder } } : cluster;
}

/** Whether the incumbent reported since without a claim, or does not answer. */
function hasGivenUp(cluster: ClusterState): boolean {
  const { incumbent } = cluster.leadership;
  if (incumbent === null) return false;
  const known = nodeNamed(cluster, incumbent);
  return known === undefined || known.isDown || known.failuresInRow > 0 || (known.report !== null && !known.hasLock);
}
