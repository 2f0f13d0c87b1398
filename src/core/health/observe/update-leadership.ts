import { lockHolderOf, presentOrLastHolderOf } from "../../cluster/leadership.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { graceOn } from "../evidence/leadership/api-outage-grace.ts";
import { viewWithLeader } from "../evidence/leadership/cluster-view.ts";
import { markDiverged } from "../evidence/attachment/divergence.ts";
import { settleDcs, withDcsTrust } from "../evidence/leadership/dcs-withdrawals.ts";
import { withStanding } from "../evidence/leadership/leader-statement.ts";
import { settleLock, type SettledLockStatus } from "../evidence/leadership/lock-status.ts";
import { withRefusals } from "../evidence/leadership/refused-claims.ts";
import { markLastLeader } from "../evidence/history/repeated-timeline.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { restartWindows, withOthersMeasured } from "./derived-fields.ts";
import { withHolderPosition } from "./holder-position.ts";
import { withIncumbent } from "./incumbent.ts";

/**
 * Decides who holds the lock after an outcome, and records it: the next dispute depends on it, and a new holder may
 * have to wait for the old one (guard `handover_hold`). Under another leader or timeline the attachment windows of all
 * nodes restart.
 * @param before the state before the outcome
 * @param cluster the state with the outcome
 * @param context with `lock`, if it was decided already
 */
export function updateLeadership(
  before: ClusterState,
  cluster: ClusterState,
  context: EvaluationContext & { readonly lock?: SettledLockStatus },
): ClusterState {
  const lock = context.lock ?? settleLock(cluster, context.policy, context.nowMs);
  const { decision, lostClaims } = lock;
  const standing = lock.holder ?? survivorOf(cluster, lock, context);
  const refusedClaims = withRefusals(cluster, { standing, before: lock.refusedClaims }, context);
  const isSame =
    decision === cluster.leadership.decision &&
    lostClaims === cluster.leadership.lostClaims &&
    refusedClaims === cluster.leadership.refusedClaims;
  const leadership = isSame ? cluster.leadership : { ...cluster.leadership, decision, lostClaims, refusedClaims };
  // After a status probe both were done already.
  const positioned = isSame
    ? cluster
    : withOthersMeasured(withHolderPosition(cluster, lock, context.policy), cluster.position, { ...context, lock });
  const leader = presentOrLastHolderOf(leadership);
  const counted = withStanding(positioned, lock.holder, context.nowMs);
  const isOther =
    (leader !== null && leader !== presentOrLastHolderOf(before.leadership)) ||
    positioned.position?.timeline !== before.position?.timeline;
  const restarted = isOther ? restartWindows(counted, context) : counted;
  const marked = markLastLeader(before, withStatedTimeline(restarted, context));
  const current = markDiverged(marked, (state) => viewWithLeader(state, lock, context));
  if (isSame) return withSettledDcs(current, context);
  const previous = lockHolderOf(cluster.leadership);
  const lastLoss =
    previous !== null && previous !== lock.holder
      ? { node: previous, atMs: context.nowMs }
      : cluster.leadership.lastLoss;
  const { heldSinceMs: knownSinceMs } = cluster.leadership;
  const heldSinceMs = lock.holder === null ? null : previous === lock.holder ? knownSinceMs : context.nowMs;
  const settled = { ...current, leadership: { ...leadership, lastLoss, heldSinceMs } };
  return withIncumbent(withSettledDcs(settled, context), context);
}

/** The node that the guard `survive` keeps fit although it does not answer, while another claim is refused. */
function survivorOf(cluster: ClusterState, lock: SettledLockStatus, context: EvaluationContext): string | null {
  if (lock.claims.length === 0) return null;
  const view = viewWithLeader(cluster, lock, context);
  const survivor = cluster.nodes.find((observation) => graceOn(view, observation, "primary").isGranted);
  return survivor?.node.name ?? null;
}

/** Records when a leader first states a position on its timeline: until some time later its `/history` may be old. */
function withStatedTimeline(cluster: ClusterState, { nowMs }: EvaluationContext): ClusterState {
  const { position, statedOn } = cluster;
  if (position === null || position.peak === null) return cluster;
  const { timeline, peak } = position;
  if (statedOn?.leader === peak.leader && statedOn.timeline === timeline) return cluster;
  return { ...cluster, statedOn: { leader: peak.leader, timeline, sinceMs: nowMs } };
}

/** Records which withdrawals of the DCS have ended, and whether its watch is trusted. */
function withSettledDcs(cluster: ClusterState, { policy }: EvaluationContext): ClusterState {
  if (cluster.dcs === null) return cluster;
  const dcs = settleDcs(cluster, cluster.dcs, policy);
  return withDcsTrust(dcs === cluster.dcs ? cluster : { ...cluster, dcs });
}
