import { lockHolderOf } from "../../cluster/leadership.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { Report } from "../../cluster/documents/report.ts";
import type { ClusterState, LeaderPosition } from "../../cluster/snapshot.ts";
import { freshUntilMs, isFresh, maxAgeMs } from "./freshness.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { sharedHistory } from "./shared-history.ts";
import { newestView } from "./leader-views.ts";

/** A report as it was just observed. */
export interface ObservedReport {
  /** What was known of the node when the report came. */
  readonly before: Observation;
  readonly observation: Observation;
  /** Who holds the lock with the report. */
  readonly holder: string | null;
  readonly nowMs: number;
}

/**
 * Moves the cluster's leader position on by one report (design.md, rule 4). What the holder states is believed, a lower position on its
 * timeline too: it restarted after a crash. While the leader does not answer, or answers without a position, what other replicas received
 * on its timeline counts, or a dead leader would make them all look caught up. A higher timeline of the same system goes on from the one
 * before; any other pair starts anew.
 */
export function advancePosition(
  cluster: ClusterState,
  seen: ObservedReport,
  policy: HealthPolicy,
): LeaderPosition | null {
  const { before, observation, holder, nowMs } = seen;
  const { position } = cluster;
  const report = observation.report;
  if (report === null) return position;
  if (observation.node.name === holder && hasPosition(report)) {
    const highest = writtenBy(report);
    return highest === null ? position : stated(cluster, { ...pairOf(report), highest }, before);
  }
  const dark = unreachableLeader(cluster, holder, { policy, nowMs });
  return dark === null ? position : raisedByReceived(cluster, report, dark);
}

/** What the replicas had already received when the leader turned out not to answer. */
export function estimatePosition(cluster: ClusterState, policy: HealthPolicy, nowMs: number): LeaderPosition | null {
  const dark = unreachableLeader(cluster, lockHolderOf(cluster.leadership), { policy, nowMs });
  if (dark === null) return cluster.position;
  const maxAge = maxAgeMs(cluster, policy);
  const reports = cluster.nodes.flatMap((node) =>
    node.report !== null && isFresh(node, maxAge, nowMs) ? [node.report] : [],
  );
  return reports.reduce(
    (position, report) => raisedByReceived({ ...cluster, position }, report, dark),
    cluster.position,
  );
}

/**
 * The instant from which the leader may have moved on unseen: it does not answer, or it answers without positions. Where another node than
 * the holder is named, and does not answer, that may be the leader.
 * @returns ms of our clock; -Infinity where that is so whatever the age of its report, `Infinity` where no leader is known
 */
export function leaderReachableUntilMs(cluster: ClusterState, policy: HealthPolicy): number {
  const { leader, named, isMute } = likelyLeader(cluster, lockHolderOf(cluster.leadership));
  if (isMute) return -Infinity;
  return Math.min(answersUntilMs(cluster, leader, policy), answersUntilMs(cluster, named?.leader, policy));
}

/** Whether the report says where its node is in the WAL; that of a node whose own query failed does not. */
export function hasPosition({ location, received, replayed }: Report): boolean {
  return location !== null || received !== null || replayed !== null;
}

/** What the node has of the WAL, wherever from, in bytes; `null` where it does not say. */
export function walReached({ received, replayed }: Pick<Report, "received" | "replayed">): number | null {
  return received === null && replayed === null ? null : Math.max(received ?? 0, replayed ?? 0);
}

type Stated = Omit<LeaderPosition, "shared">;

/** What the leader itself states. */
function stated(cluster: ClusterState, position: Stated, leader: Observation): LeaderPosition {
  const known = cluster.position;
  if (known === null || known.system !== position.system || known.timeline !== position.timeline)
    return begun(cluster, position, leader);
  return known.highest === position.highest ? known : { ...known, highest: position.highest };
}

/** The word of a replica of another system, or of another timeline than the leader's, counts for nothing here. */
function raisedByReceived(
  cluster: ClusterState,
  report: Report,
  { timeline, leader }: DarkLeader,
): LeaderPosition | null {
  const known = cluster.position;
  if (timeline === null || report.timeline !== timeline || report.received === null) return known;
  const position = { ...pairOf(report), highest: report.received };
  if (known === null) return { ...position, shared: [] };
  const isForeign = known.system !== null && report.system !== null && report.system !== known.system;
  // A replica cannot set the leader back to a timeline that it has left.
  if (isForeign || (known.timeline !== null && timeline < known.timeline)) return known;
  if (known.timeline !== timeline) return begun(cluster, position, leader);
  return position.highest > known.highest ? { ...known, highest: position.highest } : known;
}

/** The position of a pair that was not the leader's before. */
function begun(cluster: ClusterState, position: Stated, leader: Observation): LeaderPosition {
  return { ...position, shared: sharedHistory(cluster.position, position, leader) };
}

function pairOf(report: Report): Pick<LeaderPosition, "system" | "timeline"> {
  return { system: report.system, timeline: report.timeline };
}

/** A standby leader writes nothing of its own: what it has received or replayed is all there is to follow. */
function writtenBy(report: Report): number | null {
  return report.location ?? walReached(report);
}

interface DarkLeader {
  readonly leader: Observation;
  /** The timeline it is on, as far as that is known. */
  readonly timeline: number | null;
}

/**
 * The leader where its position may move on unseen: the holder that does not answer or answers without a position, or, while nobody
 * holds the lock, the node that the newest view names or that claimed it last, and that does not answer.
 */
function unreachableLeader(cluster: ClusterState, holder: string | null, context: Context): DarkLeader | null {
  const { leader, named, isMute } = likelyLeader(cluster, holder);
  if (leader === undefined) return null;
  if (context.nowMs < answersUntilMs(cluster, leader, context.policy) && !isMute) return null;
  // The leader's own document and its member's record are each old for a while after a promotion.
  const timelines = [leader.report?.timeline ?? null, leader === named?.leader ? named.timeline : null].filter(
    (one) => one !== null,
  );
  return { leader, timeline: timelines.length === 0 ? (cluster.position?.timeline ?? null) : Math.max(...timelines) };
}

/** The node that leads as far as is known, the one that the newest view names, and whether the first answers without a position. */
function likelyLeader(cluster: ClusterState, holder: string | null): LikelyLeader {
  const holding = nodeNamed(cluster, holder);
  const named = namedLeader(cluster);
  const leader = holding ?? named?.leader ?? lastClaimant(cluster);
  const isMute =
    leader !== undefined && leader === holding && leader.report !== null && !hasPosition(leader.report);
  return { leader, named, isMute };
}

interface LikelyLeader {
  readonly leader: Observation | undefined;
  readonly named: DarkLeader | undefined;
  readonly isMute: boolean;
}

/** The node that the newest view names, and the timeline that it states of it. */
function namedLeader(cluster: ClusterState): DarkLeader | undefined {
  const newest = newestView(cluster);
  const leader =
    newest === undefined || newest.leader === null
      ? undefined
      : cluster.nodes.find(({ node }) => node.member === newest.leader);
  return leader === undefined ? undefined : { leader, timeline: newest?.timeline ?? null };
}

/** Who claimed the lock last, where no view since says that nobody holds it. */
function lastClaimant(cluster: ClusterState): Observation | undefined {
  const claimant = cluster.nodes[cluster.lockClaims[0] ?? -1];
  return claimant !== undefined && (newestView(cluster)?.sentAtMs ?? -Infinity) < claimant.sentAtMs
    ? claimant
    : undefined;
}

/** The instant from which a node does not answer, in ms of our clock; -Infinity after a failure, `Infinity` where there is no node. */
function answersUntilMs(cluster: ClusterState, leader: Observation | undefined, policy: HealthPolicy): number {
  if (leader === undefined) return Infinity;
  return leader.failuresInRow === 0 ? freshUntilMs(leader, maxAgeMs(cluster, policy)) : -Infinity;
}

interface Context {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}
