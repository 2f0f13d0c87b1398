import { lockHolderOf } from "../../../cluster/leadership.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import type { ClusterState, LeaderPeak, LeaderPosition } from "../../../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "../node/freshness.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";
import { isSameSystemAndTimeline, isSuccessor, sharedHistory, type SystemAndTimeline } from "../history/history.ts";
import { hasWalOfLeader } from "./comparable.ts";
import { pageUntilMs, positionOfNewLeader, raisedByStandby } from "./exporter-position.ts";
import { type LeaderWithUnseenWal, leaderWithUnseenWal } from "../leadership/likely-leader.ts";
import { hasOtherWal } from "../history/repeated-timeline.ts";
import { isPromoted, leaderPositionIn, walReached } from "../node/report-position.ts";

/** A node's new report, already recorded in the cluster's state. */
export interface ObservedReport {
  /** The node's observation before the report. */
  readonly before: Observation;
  readonly observation: Observation;
  /** Who holds the lock once the report is recorded. */
  readonly holder: string | null;
  readonly nowMs: number;
}

/**
 * Updates the cluster's leader position when a report arrives (rule 4). A position belongs to one system and timeline.
 * The holder's own position is believed, also a lower one on the same timeline: it may have restarted after a crash.
 * A holder that is not promoted yet counts as any replica does.
 *
 * While a leader may have written unseen WAL (`leaderWithUnseenWal`), the positions that nodes reached on its timeline
 * count too. Without them, all replicas of a dead leader would soon look caught up.
 *
 * When the timeline of a system rises, `shared` keeps what the old and the new timeline have in common, as far as it is
 * known (`sharedHistory`). After any other change of system or timeline `shared` is empty.
 */
export function advancePosition(
  cluster: ClusterState,
  observed: ObservedReport,
  policy: HealthPolicy,
): LeaderPosition | null {
  const { before, observation, holder, nowMs } = observed;
  const { position } = cluster;
  const report = observation.report;
  if (report === null) return position;
  if (observation.node.name === holder && isPromoted(report)) {
    const highest = leaderPositionIn(report);
    if (highest === null) return position;
    // `isPromoted` is true of standby leaders too. A primary states its timeline. A standby leader may omit it, and is
    // still on the known one then.
    const timeline = report.timeline ?? position?.timeline ?? null;
    const until = { pageUntilMs: pageUntilMs(observation, policy) };
    return withStatedPosition(cluster, { system: report.system, timeline, highest, ...until }, before);
  }
  if (observation.node.api === null) return raisedByStandby(cluster, observation, { policy, nowMs });
  const unseen = leaderWithUnseenWal(cluster, holder, { policy, nowMs });
  // The new report of a replica that crashed has no position, but its previous one may show how far the leader was.
  return unseen === null ? position : raisedByAll(cluster, [...cluster.nodes, before], { unseen, policy, nowMs });
}

/**
 * Returns the leader position after the lock passed to `leader`. That node may have claimed the lock, and stated its
 * position, before rolecall accepted its claim. Such a position counts if it is higher on the same timeline, if it is
 * on a higher timeline of the same system, if that node began another timeline with the same number (rule 6 (d)), or if
 * no position is known. Without a timeline it never counts.
 * @param leader the observation of the lock holder. Its last report may no longer claim the lock: then nothing counts
 */
export function positionStatedBeforeTakeover(
  cluster: ClusterState,
  leader: Observation,
  policy: HealthPolicy,
): LeaderPosition | null {
  const { position: known } = cluster;
  if (leader.node.api === null) return positionOfNewLeader(known, leader, policy);
  const { report, hasLock } = leader;
  const highest = report === null ? null : leaderPositionIn(report);
  if (report === null || !hasLock || !isPromoted(report) || report.timeline === null || highest === null) return known;
  const next = withStatedPosition(cluster, { ...systemAndTimelineOf(report), highest }, leader);
  const counts =
    known === null ||
    isSuccessor(known, next) ||
    (isSameSystemAndTimeline(known, next) && known.highest < next.highest) ||
    hasOtherWal(leader, known, next);
  return counts ? next : known;
}

/**
 * Estimates the position of a leader that may have written WAL that rolecall has not seen, by what the replicas have
 * reached. `leaderWithUnseenWal` says which leader that is.
 */
export function estimatePosition(cluster: ClusterState, policy: HealthPolicy, nowMs: number): LeaderPosition | null {
  const unseen = leaderWithUnseenWal(cluster, lockHolderOf(cluster.leadership), { policy, nowMs });
  return unseen === null ? cluster.position : raisedByAll(cluster, cluster.nodes, { unseen, policy, nowMs });
}

/**
 * Raises the leader position to the highest one that a node has reached, by the fresh reports of `observations`.
 */
function raisedByAll(
  cluster: ClusterState,
  observations: readonly Observation[],
  { unseen, policy, nowMs }: EvaluationContext & { readonly unseen: LeaderWithUnseenWal },
): LeaderPosition | null {
  const maxAge = maxAgeMs(cluster, policy);
  const reports = observations.flatMap((node) =>
    node.report !== null && hasWalOfLeader(cluster, node, nowMs) && isFresh(node, maxAge, nowMs) ? [node.report] : [],
  );
  return reports.reduce(
    (position, report) => raisedByReceived({ ...cluster, position }, report, unseen),
    cluster.position,
  );
}

/** What a leader states. */
type StatedPosition = Pick<LeaderPosition, "system" | "timeline" | "highest" | "pageUntilMs">;

/**
 * The leader position after the leader's own report.
 * @param leader the leader's observation. Its `attachment` still has the WAL positions that it reached as a replica,
 *   because the reports of a primary state none
 */
function withStatedPosition(cluster: ClusterState, position: StatedPosition, leader: Observation): LeaderPosition {
  const known = cluster.position;
  const { highest } = position;
  const name = leader.node.name;
  if (known === null || !isSameSystemAndTimeline(known, position))
    return firstOnTimeline(cluster, { ...position, peak: { leader: name, highest, last: highest } }, leader);
  const peak = raisedPeak(known.peak, name, highest);
  const { pageUntilMs: untilMs } = position;
  const isKnown = known.highest === highest && known.peak === peak && known.pageUntilMs === untilMs;
  return isKnown ? known : { ...known, highest, peak, pageUntilMs: untilMs };
}

/** A leader may state a lower position after a crash. Another leader's positions say nothing about this one. */
function raisedPeak(known: LeaderPeak | null, leader: string, last: number): LeaderPeak {
  if (known === null || known.leader !== leader) return { leader, highest: last, last };
  return known.last === last ? known : { leader, highest: Math.max(known.highest, last), last };
}

/**
 * Raises the leader position to what a replica received or replayed, because the leader has written it. Ignored are
 * replicas on another timeline than `timeline`, that of the leader, and those of another system than the known
 * position.
 */
function raisedByReceived(
  cluster: ClusterState,
  report: Report,
  { timeline, leader }: LeaderWithUnseenWal,
): LeaderPosition | null {
  const known = cluster.position;
  const reached = walReached(report);
  if (timeline === null || report.timeline !== timeline || reached === null) return known;
  const position = { ...systemAndTimelineOf(report), highest: reached, peak: null };
  if (known === null) return { ...position, shared: [] };
  const isForeign = known.system !== null && report.system !== null && report.system !== known.system;
  // A replica cannot move the leader back to an earlier timeline.
  if (isForeign || (known.timeline !== null && timeline < known.timeline)) return known;
  // `leader` is `null` for the last leader only, whose timeline is the known one.
  if (known.timeline !== timeline) return leader === null ? known : firstOnTimeline(cluster, position, leader);
  return position.highest > known.highest ? { ...known, highest: position.highest } : known;
}

/** The first position on a new timeline or system, with the history that it shares with the previous one. */
function firstOnTimeline(
  cluster: ClusterState,
  position: Omit<LeaderPosition, "shared">,
  leader: Observation,
): LeaderPosition {
  return { ...position, shared: sharedHistory(cluster.position, position, leader) };
}

function systemAndTimelineOf({ system, timeline }: Report): SystemAndTimeline {
  return { system, timeline };
}
