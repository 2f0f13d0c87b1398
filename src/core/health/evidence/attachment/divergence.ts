import { isDiverged, type Attachment } from "../../../cluster/attachment.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { timelineOf } from "../position/measure.ts";
import { walReached } from "../node/report-position.ts";
import { sharedUpTo } from "../history/history.ts";
import { freshLeader, isInSenderChain } from "../leadership/sender-chain.ts";
import type { ClusterView } from "../leadership/cluster-view.ts";

/**
 * Whether the node's timeline is lower than the leader's. `false` while either is unknown. A node that was listed as
 * streaming is on the timeline of that leader, whatever it reports.
 */
export function isOnLowerTimeline(
  cluster: ClusterState,
  observation: Pick<Observation, "measured" | "report">,
): boolean {
  const leaderTimeline = cluster.position?.timeline ?? null;
  const timeline = timelineOf(observation);
  return leaderTimeline !== null && timeline !== null && timeline < leaderTimeline;
}

/**
 * The WAL position at which the leader's history switched from the report's timeline to the next one; `null` while
 * unknown. A node that is past it on that timeline has WAL that the leader does not have.
 */
export function switchPointOf(cluster: ClusterState, report: Report): number | null {
  return report.timeline === null ? null : (cluster.switchPoints?.get(report.timeline) ?? null);
}

/**
 * Whether the node has WAL that is not in the leader's history (rule 6). This is so if the node was marked diverged
 * when an outcome was recorded. It is also so if its last report is past the switch point while there is no leader:
 * then there is no sender list that could show that the node streams on the new timeline by now.
 */
export function hasDiverged(view: ClusterView, observation: Observation): boolean {
  if (isDiverged(observation.attachment)) return true;
  return view.lock.holder === null && isPastSwitchPoint(view.cluster, observation);
}

/**
 * Until when the result of `hasDiverged` holds if no new evidence arrives, in ms of rolecall's clock. For a node
 * that is past the switch point but not marked diverged, it depends on whether there is a leader, which may change with
 * time.
 */
export function divergenceUntilMs(view: ClusterView, observation: Observation): number {
  return !isDiverged(observation.attachment) && isPastSwitchPoint(view.cluster, observation)
    ? view.lock.validUntilMs
    : Infinity;
}

/** A new report of a node, and the facts that decide whether the node is marked diverged. */
export interface DivergenceInputs {
  /** The node's attachment before the report. */
  readonly known: Attachment;
  /** The node's observation with the report, measured. */
  readonly after: Observation;
  /**
   * Whether the report's timeline is lower than the leader's, and no chain of sender lists shows the node in state
   * `streaming`. Such a chain would prove that the node is on the leader's timeline by now.
   */
  readonly isLowerAndNotStreaming: boolean;
  /** Whether a chain of sender lists shows the node at all, in state `streaming` or `catchup`. */
  readonly isListed: () => boolean;
  /** Whether the node needs no stream, so that its absence from sender lists says nothing. */
  readonly isExempt: boolean;
}

/**
 * Applies rule 6 to a new report. A node is marked diverged if it is on a lower timeline without being listed, and
 *
 * - has been so for the attach window (this does not apply to exempt nodes), or
 * - is marked already, and its position is unknown or still past the switch point.
 *
 * `markDiverged` marks nodes that are past the switch point.
 *
 * Otherwise the mark is removed, except while the node's or the leader's timeline is unknown: then it stays, unless the
 * node holds the lock. Successive reports past the switch point count from the first of them: `markDiverged` begins the
 * count.
 * @param countedMs the time since the node's previous report, in ms, if the leader's position is known; else 0
 */
export function nextDivergence(
  view: ClusterView,
  inputs: DivergenceInputs,
  countedMs: number,
): Pick<Attachment, "lowerTimelineMs" | "pastSinceMs" | "isOffTimeline"> {
  const { known, after, isLowerAndNotStreaming, isListed, isExempt } = inputs;
  // Without both timelines nothing can be compared, so the mark stays. The leader's is unknown right after a restart.
  // The lock holder is on the leader's timeline, whatever that is.
  const isComparable = (after.report?.timeline ?? null) !== null && (view.cluster.position?.timeline ?? null) !== null;
  if (known.isOffTimeline && !isComparable && view.lock.holder !== after.node.name)
    return { lowerTimelineMs: known.lowerTimelineMs, pastSinceMs: known.pastSinceMs, isOffTimeline: true };
  if (!isLowerAndNotStreaming || isListed()) return { lowerTimelineMs: 0, pastSinceMs: null, isOffTimeline: false };
  const lowerTimelineMs = isExempt ? 0 : known.lowerTimelineMs + countedMs;
  const side = sideOfSwitchPoint(view.cluster, after);
  const pastSinceMs = side === "past" ? known.pastSinceMs : null;
  const isOffTimeline =
    lowerTimelineMs >= view.policy.guards.attachWindowMs || (known.isOffTimeline && side !== "before");
  return { lowerTimelineMs, pastSinceMs, isOffTimeline };
}

/**
 * Marks as diverged each node whose last report is past the switch point on a lower timeline, and which is not in the
 * leader's sender chain. Right after a promotion a replica still reports the old timeline although it streams on the
 * new one. So while there is a leader, the mark waits for a sender list that was requested after the first of the
 * node's successive reports past the switch point. Without a leader there is nothing to wait for.
 */
export function markDiverged(cluster: ClusterState, viewOf: (state: ClusterState) => ClusterView): ClusterState {
  if (!cluster.nodes.some((node) => !node.attachment.isOffTimeline && isPastSwitchPoint(cluster, node))) return cluster;
  const view = viewOf(cluster);
  const leader = freshLeader(view);
  let { nodes } = cluster;
  for (const [at, node] of cluster.nodes.entries()) {
    if (node.attachment.isOffTimeline || !isPastSwitchPoint(cluster, node)) continue;
    const isListed = isInSenderChain(view, node.node.name);
    const sinceMs = node.attachment.pastSinceMs ?? node.sentAtMs;
    // `freshLeader` leaves out a leader whose own query failed: its list is empty, which says nothing about the node.
    const isSenderListNewer = leader !== null && leader.sentAtMs > sinceMs;
    const isOffTimeline = !isListed && (isSenderListNewer || view.lock.holder === null);
    const pastSinceMs = isListed ? null : sinceMs;
    if (isOffTimeline || pastSinceMs !== node.attachment.pastSinceMs)
      nodes = nodes.with(at, { ...node, attachment: { ...node.attachment, pastSinceMs, isOffTimeline } });
  }
  return nodes === cluster.nodes ? cluster : { ...cluster, nodes };
}

/** Whether the node's last report is on a lower timeline than the leader's, and past the switch point. */
function isPastSwitchPoint(cluster: ClusterState, observation: Observation): boolean {
  return isOnLowerTimeline(cluster, observation) && sideOfSwitchPoint(cluster, observation) === "past";
}

/**
 * Where the node's WAL ends: `before` includes the switch point itself; `null` while one of the two is unknown. Until
 * `/history` has the switch point, what the leader had as a replica on that timeline is surely before it. A node that
 * has replayed exactly up to the switch point has received no complete record past it: a primary also sends the begin of
 * a record, up to the end of a page, and such a part is overwritten from the new leader.
 */
function sideOfSwitchPoint(cluster: ClusterState, observation: Observation): "before" | "past" | null {
  const { report } = observation;
  const timeline = timelineOf(observation);
  const reached = report === null ? null : walReached(report);
  const switchPoint = timeline === null ? null : (cluster.switchPoints?.get(timeline) ?? null);
  if (reached === null || timeline === null) return null;
  if (switchPoint === null) return reached <= (sharedUpTo(cluster, timeline) ?? -1) ? "before" : null;
  return reached > switchPoint && report?.replayed !== switchPoint ? "past" : "before";
}
