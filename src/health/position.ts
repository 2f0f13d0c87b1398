import type { Observation } from "../cluster/observation.ts";
import type { Report } from "../cluster/report.ts";
import type { ClusterPart, LeaderPosition } from "../cluster/snapshot.ts";
import { isFresh, maxAgeMs } from "./freshness.ts";
import type { Settings } from "./settings.ts";
import { sharedHistory } from "./shared-history.ts";
import { newestTestimony } from "./testimony.ts";

/** A report as it was just observed. */
export interface SeenReport {
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
export function advancePosition(part: ClusterPart, seen: SeenReport, settings: Settings): LeaderPosition | null {
  const { before, observation, holder, nowMs } = seen;
  const { position } = part;
  const report = observation.report;
  if (report === null) return position;
  if (observation.node.name === holder && statesPosition(report)) {
    const highest = writtenBy(report);
    return highest === null ? position : stated(part, { ...pairOf(report), highest }, before);
  }
  const dark = darkLeader(part, holder, { settings, nowMs });
  return dark === null ? position : raisedByReceived(part, report, dark);
}

/** What the replicas had already received when the leader turned out not to answer. */
export function positionOfDarkLeader(part: ClusterPart, settings: Settings, nowMs: number): LeaderPosition | null {
  const dark = darkLeader(part, part.holder, { settings, nowMs });
  if (dark === null) return part.position;
  const maxAge = maxAgeMs(part, settings);
  const reports = part.nodes.flatMap((node) => (node.report !== null && isFresh(node, maxAge, nowMs) ? [node.report] : []));
  return reports.reduce((position, report) => raisedByReceived({ ...part, position }, report, dark), part.position);
}

/**
 * Whether the leader may have moved on unseen: it does not answer, or it answers without positions. Where another node than the holder
 * is named, and does not answer, that may be the leader.
 */
export function isLeaderDark(part: ClusterPart, settings: Settings, nowMs: number): boolean {
  if (darkLeader(part, part.holder, { settings, nowMs }) !== null) return true;
  const named = namedLeader(part);
  return named !== undefined && !answers(part, named.leader, { settings, nowMs });
}

/** Whether the report says where its node is in the WAL; that of a node whose own query failed does not. */
export function statesPosition({ location, received, replayed }: Report): boolean {
  return location !== null || received !== null || replayed !== null;
}

/** What the node has of the WAL, wherever from, in bytes; `null` where it does not say. */
export function reachedBy({ received, replayed }: Pick<Report, "received" | "replayed">): number | null {
  return received === null && replayed === null ? null : Math.max(received ?? 0, replayed ?? 0);
}

type Stated = Omit<LeaderPosition, "shared">;

/** What the leader itself states. */
function stated(part: ClusterPart, position: Stated, leader: Observation): LeaderPosition {
  const known = part.position;
  if (known === null || known.system !== position.system || known.timeline !== position.timeline) return begun(part, position, leader);
  return known.highest === position.highest ? known : { ...known, highest: position.highest };
}

/** The word of a replica of another system, or of another timeline than the leader's, counts for nothing here. */
function raisedByReceived(part: ClusterPart, report: Report, { timeline, leader }: DarkLeader): LeaderPosition | null {
  const known = part.position;
  if (timeline === null || report.timeline !== timeline || report.received === null) return known;
  const position = { ...pairOf(report), highest: report.received };
  if (known === null) return { ...position, shared: [] };
  const isForeign = known.system !== null && report.system !== null && report.system !== known.system;
  // A replica cannot set the leader back to a timeline that it has left.
  if (isForeign || (known.timeline !== null && timeline < known.timeline)) return known;
  if (known.timeline !== timeline) return begun(part, position, leader);
  return position.highest > known.highest ? { ...known, highest: position.highest } : known;
}

/** The position of a pair that was not the leader's before. */
function begun(part: ClusterPart, position: Stated, leader: Observation): LeaderPosition {
  return { ...position, shared: sharedHistory(part.position, position, leader) };
}

function pairOf(report: Report): Pick<LeaderPosition, "system" | "timeline"> {
  return { system: report.system, timeline: report.timeline };
}

/** A standby leader writes nothing of its own: what it has received or replayed is all there is to follow. */
function writtenBy(report: Report): number | null {
  return report.location ?? reachedBy(report);
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
function darkLeader(part: ClusterPart, holder: string | null, context: Context): DarkLeader | null {
  const holding = holder === null ? undefined : part.nodes[part.index.get(holder) ?? -1];
  const named = namedLeader(part);
  const leader = holding ?? named?.leader ?? lastClaimant(part);
  if (leader === undefined) return null;
  const isMute = leader === holding && leader.report !== null && !statesPosition(leader.report);
  if (answers(part, leader, context) && !isMute) return null;
  // The leader's own document and its member's record are each old for a while after a promotion.
  const timelines = [leader.report?.timeline ?? null, leader === named?.leader ? named.timeline : null].filter((one) => one !== null);
  return { leader, timeline: timelines.length === 0 ? (part.position?.timeline ?? null) : Math.max(...timelines) };
}

/** The node that the newest view names, and the timeline that it states of it. */
function namedLeader(part: ClusterPart): DarkLeader | undefined {
  const newest = newestTestimony(part);
  const leader = newest === undefined || newest.leader === null ? undefined : part.nodes.find(({ node }) => node.member === newest.leader);
  return leader === undefined ? undefined : { leader, timeline: newest?.timeline ?? null };
}

/** Who claimed the lock last, where no view since says that nobody holds it. */
function lastClaimant(part: ClusterPart): Observation | undefined {
  const claimant = part.nodes[part.claims[0] ?? -1];
  return claimant !== undefined && (newestTestimony(part)?.sentAtMs ?? -Infinity) < claimant.sentAtMs ? claimant : undefined;
}

function answers(part: ClusterPart, leader: Observation, { settings, nowMs }: Context): boolean {
  return leader.failuresInRow === 0 && isFresh(leader, maxAgeMs(part, settings), nowMs);
}

interface Context {
  readonly settings: Settings;
  readonly nowMs: number;
}
