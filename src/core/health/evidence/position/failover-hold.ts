import { isDiverged, type Measured } from "../../../cluster/attachment.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderStatement } from "../../../cluster/snapshot.ts";
import { freshUntilMs, isFresh, maxAgeMs } from "../node/freshness.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";
import { heldUntilMs } from "../leadership/leader-statement.ts";
import { isIdentified } from "../leadership/leader-views.ts";
import { statesPosition } from "../node/report-position.ts";

/** The limit while the cluster's settings are unknown, in ms: ttl + loop_wait + retry_timeout of Patroni's defaults. */
const unknownLimitMs = 50_000;
/** Patroni's default of loop_wait, in ms. */
const unknownLoopWaitMs = 10_000;

/** A node's lag in time is taken at an earlier instant than now: the hold (rule 4, guard `failover_hold`). */
export interface Hold {
  /** The instant at which the lag is taken, in ms of rolecall's clock. */
  readonly atMs: number;
  /** When the leader's last position was requested, in ms of rolecall's clock. */
  readonly statedAtMs: number;
  /** When it ends if no outcome is recorded meanwhile, in ms of rolecall's clock. */
  readonly untilMs: number;
  /** Whether the next report of the leader may state the same position at a later instant. */
  readonly isLeaderAnswering: boolean;
}

/** A node, and its positions as they are compared with the leader's, in bytes of WAL. */
interface MeasuredNode extends Pick<Measured, "received" | "replayed"> {
  readonly observation: Observation;
}

/**
 * Finds the hold of a node (rule 4): by its fresh report it has replayed all that it received, and rules 5 and 6 do not
 * refuse it. From the
 * last report in which a leader stated its position on, it keeps its lag in time for at most `ttl` + `loop_wait` +
 * `retry_timeout`. A view of a third node in which the leader is not past it starts that time anew, one in which the
 * leader is past it ends the hold.
 * @returns `null` if the lag in time counts as it is now
 */
export function holdOn(cluster: ClusterState, node: MeasuredNode, context: EvaluationContext): Hold | null {
  const { lastStatement: stated } = cluster;
  const { observation, replayed } = node;
  if (stated === null || replayed === null || !isHoldable(node, context.policy)) return null;
  const seen = newestThirdView(cluster, { observation, replayed, stated }, context);
  return seen?.isPast === true ? null : holdSince(cluster, { stated, seen, observation }, context);
}

/**
 * Finds the hold of a node of a standby cluster while the primary that its lag counts from is silent. It is that of the
 * primary's own replicas, without the views: they do not list the node.
 * @param origin the cluster of that primary
 */
export function holdBehind(origin: ClusterState, node: MeasuredNode, context: EvaluationContext): Hold | null {
  const { lastStatement: stated } = origin;
  if (stated === null || !isHoldable(node, context.policy)) return null;
  return holdSince(origin, { stated, seen: null, observation: node.observation }, context);
}

/** Whether the node has replayed all that it received, and rules 5 and 6 do not refuse it. */
function isHoldable({ observation, received, replayed }: MeasuredNode, { guards }: HealthPolicy): boolean {
  const { attachment } = observation;
  if (!guards.failoverHold || replayed === null || (received ?? 0) > replayed) return false;
  return !(attachment.isDetached || attachment.isStalled || isDiverged(attachment));
}

/** The hold from a leader's last statement on, with the newest view of a third node; `null` once it is over. */
function holdSince(
  cluster: ClusterState,
  { stated, seen, observation }: Pick<HeldReplica, "stated" | "observation"> & { readonly seen: ThirdView | null },
  { policy, nowMs }: EvaluationContext,
): Hold | null {
  const { config } = cluster;
  const limitMs = config === null ? unknownLimitMs : config.ttlMs + config.loopWaitMs + config.retryTimeoutMs;
  const limitedMs = Math.max(heldUntilMs(stated, limitMs), (seen?.sentAtMs ?? -Infinity) + limitMs);
  const maxAge = maxAgeMs(cluster, policy);
  const untilMs = Math.min(limitedMs, freshUntilMs(observation, maxAge));
  if (nowMs >= untilMs) return null;
  const leader = nodeNamed(cluster, stated.leader);
  const isLeaderAnswering =
    leader !== undefined &&
    leader.failuresInRow === 0 &&
    isFresh(leader, maxAge, nowMs) &&
    leader.report !== null &&
    statesPosition(leader.report);
  return { atMs: stated.sampledAtMs, statedAtMs: stated.sentAtMs, untilMs, isLeaderAnswering };
}

/** A replica, what it has replayed, and the leader's last statement. */
interface HeldReplica {
  readonly observation: Observation;
  readonly replayed: number;
  readonly stated: LeaderStatement;
}

interface ThirdView {
  readonly sentAtMs: number;
  readonly isPast: boolean;
}

/**
 * Returns the newest view that names the leader, was requested since the leader last stated its position, and is of a
 * node that is neither of the two; and whether the leader is past the replica in it.
 */
function newestThirdView(cluster: ClusterState, replica: HeldReplica, context: EvaluationContext): ThirdView | null {
  const { observation, replayed, stated } = replica;
  const loopWaitMs = cluster.config?.loopWaitMs ?? unknownLoopWaitMs;
  let newest: ThirdView | null = null;
  for (const [witness, { names, sentAtMs, members }] of cluster.leaderViews) {
    const isThird = witness !== stated.leader && witness !== observation.node.name;
    if (!isThird || names !== stated.leader || sentAtMs <= (newest?.sentAtMs ?? stated.sentAtMs)) continue;
    const lag = members.get(observation.node.member);
    if (lag === undefined || lag.behind === null || !isIdentified(cluster, witness, context)) continue;
    // The replica's own position in the DCS may be one loop_wait old. If the view states it, the leader's follows.
    // Without it, the replica may have passed the leader's since.
    if (lag.behind > 0 && lag.position === null && sentAtMs < stated.sampledAtMs + loopWaitMs) continue;
    const isPast = lag.behind > 0 && (lag.position === null || lag.position + lag.behind > replayed);
    newest = { sentAtMs, isPast };
  }
  return newest;
}
