import { lockHolderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { LockStatus } from "../evidence/leadership/lock-status.ts";
import { afterSetBack } from "../evidence/attachment/set-back.ts";
import { withStatement } from "../evidence/leadership/leader-statement.ts";
import { positionStatedBeforeTakeover } from "../evidence/position/position.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { carriedSamples, withSample } from "../evidence/position/time-lag.ts";

/**
 * Applies the position that a new lock holder stated while another node still held the lock (rule 4). Without it,
 * replicas that follow the new holder would be measured against the last leader until the holder's next answer.
 * @param cluster the state, with `leadership` not yet updated to the new holder
 * @param lock who holds the lock now
 * @returns the same object if there is no new holder, or what it stated does not count
 */
export function withHolderPosition(
  cluster: ClusterState,
  { holder }: Pick<LockStatus, "holder">,
  policy: HealthPolicy,
): ClusterState {
  if (holder === lockHolderOf(cluster.leadership)) return cluster;
  const leader = nodeNamed(cluster, holder);
  if (leader === undefined) return cluster;
  const position = positionStatedBeforeTakeover(cluster, leader, policy);
  if (position === cluster.position) return cluster;
  const carried = carriedSamples(cluster, position, null);
  if (position?.peak?.leader !== holder) return { ...cluster, position, positionSamples: carried };
  const positionSamples = withSample(carried, position, leader.sentAtMs);
  const nodes = afterSetBack(cluster, leader);
  return withStatement({ ...cluster, nodes, position, positionSamples }, leader);
}
