import { isDiverged } from "../../cluster/attachment.ts";
import { observationDraftOf, type Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../cluster/snapshot.ts";
import { nextAttachment, restartWindow } from "../evidence/attachment/attachment.ts";
import { isDamping, withLagSample } from "../evidence/position/lag-damping.ts";
import { isOnLowerTimeline } from "../evidence/attachment/divergence.ts";
import type { LockStatus } from "../evidence/leadership/lock-status.ts";
import { measure, totalLagBytes } from "../evidence/position/measure.ts";
import { type ClusterView, viewWithLeader } from "../evidence/leadership/cluster-view.ts";
import type { EvaluationContext } from "../health-policy.ts";
import { strayAfter } from "../evidence/leadership/stray-primary.ts";
import { isListedStreaming } from "../evidence/leadership/sender-chain.ts";
import { isSameSystemAndTimeline } from "../evidence/history/history.ts";
import { timeLagMs } from "../evidence/position/time-lag.ts";

/**
 * Derives what a node's report shows in relation to the cluster: its distance to the leader's position (rule 4), its
 * signs of attachment (rules 5 and 6), and its damped lag, if `lag_samples` or `dwell` is set.
 * @param pair the node's observation before and after the report
 * @param context the policy, the instant of recording, and who holds the lock once the report is recorded
 */
export function deriveNodeFields(
  cluster: ClusterState,
  pair: { readonly before: Observation; readonly after: Observation },
  context: EvaluationContext & { readonly lock: LockStatus },
): Observation {
  const { before, after } = pair;
  const { report, sentAtMs, node } = after;
  if (report === null) return after;
  const view = viewWithLeader(cluster, context.lock, context);
  const measured = measure(cluster, {
    before,
    report,
    isStreaming: () => isListedStreaming(view, node.name),
    ...context,
  });
  const isDamped = isDamping(context.policy);
  const observed = observationDraftOf(after);
  observed.measured = measured;
  // The time up to the sending of this report is accounted for: `nextAttachment` adds it to the counts of rules 5 and
  // 6, or skips it.
  observed.countedAtMs = Math.max(sentAtMs, before.countedAtMs);
  if (!isDamped) observed.dampedLag = null;
  observed.attachment = nextAttachment(view, { before, after: observed });
  observed.stray = strayAfter(cluster, pair, context);
  if (isDamped) observed.dampedLag = dampedLagOf(cluster, observed, context);
  return observed;
}

/**
 * Measures again the nodes whose last report could not be measured, but can be now, because of what was just recorded
 * (rule 4). Without this, their lag would stay unknown or outdated until their next report. There are two such cases:
 *
 * - A sender list shows the node streaming, although the node's own report has a lower timeline.
 * - The leader's position is now on the timeline that the node has reported already. When its report came, it was not
 *   comparable, so figures of an earlier report were kept. They may have expired.
 *
 * The node reported before the leader's position changed. So it is measured against the position before that change. If
 * no earlier position was known, or it was of another system or timeline, the present position counts.
 * @param cluster the state with what was just recorded
 * @param known the leader's position before this change
 */
export function withOthersMeasured(
  cluster: ClusterState,
  known: LeaderPosition | null,
  context: EvaluationContext & { readonly lock: LockStatus },
): ClusterState {
  const { position } = cluster;
  if (position === null || !cluster.nodes.some((other) => mayBeMeasured(cluster, other))) return cluster;
  const isSameTimeline = known !== null && isSameSystemAndTimeline(known, position);
  let view: ClusterView | undefined;
  const stateToMeasureAgainst: ClusterState = isSameTimeline
    ? { ...cluster, position: { ...position, highest: known.highest } }
    : cluster;
  let { nodes } = cluster;
  for (const [at, other] of cluster.nodes.entries()) {
    const { report, node } = other;
    const isMeasurableByList =
      lacksLagOnLeaderTimeline(cluster, other) &&
      isListedStreaming((view ??= viewWithLeader(cluster, context.lock, context)), node.name);
    if (report === null || !(isMeasurableByList || isComparableByNow(cluster, other))) continue;
    const measured = measure(stateToMeasureAgainst, {
      before: other,
      report,
      isStreaming: () => isMeasurableByList,
      ...context,
    });
    nodes = nodes.with(at, { ...other, measured });
  }
  return nodes === cluster.nodes ? cluster : { ...cluster, nodes };
}

function mayBeMeasured(cluster: ClusterState, other: Observation): boolean {
  return lacksLagOnLeaderTimeline(cluster, other) || isComparableByNow(cluster, other);
}

/**
 * Whether a node's last report is on the leader's timeline now, but was not when it came, and figures of an earlier
 * report were kept for the node instead. These figures may have expired meanwhile.
 */
function isComparableByNow({ position }: ClusterState, { report, measured }: Observation): boolean {
  const hasEarlierFigures = measured !== null && measured.heldUntilMs !== null;
  return hasEarlierFigures && report !== null && report.timeline === position?.timeline;
}

/**
 * Whether the node counts as on a lower timeline than the leader's, has not diverged, and has no lag that was measured
 * on the leader's timeline.
 */
function lacksLagOnLeaderTimeline(cluster: ClusterState, observation: Observation): boolean {
  const { measured, attachment } = observation;
  if (isDiverged(attachment) || !isOnLowerTimeline(cluster, observation)) return false;
  return measured?.timeline !== cluster.position?.timeline;
}

/**
 * Restarts the attachment windows after a change of leader or timeline. For detached, stalled and diverged nodes, some
 * durations keep running: `restartWindow` says which.
 */
export function restartWindows(cluster: ClusterState, { policy, nowMs }: EvaluationContext): ClusterState {
  const windowMs = policy.guards.attachWindowMs;
  return { ...cluster, nodes: cluster.nodes.map((node) => restartWindow(node, nowMs, windowMs)) };
}

function dampedLagOf(cluster: ClusterState, after: Observation, context: EvaluationContext): Observation["dampedLag"] {
  const sample = {
    sentAtMs: after.sentAtMs,
    bytes: totalLagBytes({ ...context, cluster }, after),
    timeMs: timeLagMs(cluster, after, context),
  };
  return withLagSample(after.dampedLag, sample, context.policy);
}
