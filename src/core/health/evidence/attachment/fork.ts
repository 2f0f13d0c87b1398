import type { Ahead, Attachment, Fork, IdleLeader } from "../../../cluster/attachment.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../../cluster/snapshot.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import type { ClusterView } from "../leadership/cluster-view.ts";
import type { DivergenceInputs } from "./divergence.ts";
import { statesPosition, walReached } from "../node/report-position.ts";
import { isSameSystemAndTimeline } from "../history/history.ts";

/**
 * How a replica's position compares with the leader's:
 *
 * - `ahead`: by a later report of the leader, it has still not reached what the replica had replayed.
 * - `confirmed`: the same, and the leader has advanced since it was `ahead` before.
 * - `not ahead`: the leader has reached that position, or the one that the replica has now.
 * - `open`: there is no later report of the leader, or the two cannot be compared.
 */
type Comparison = "ahead" | "confirmed" | "not ahead" | "open";

/** What the leader has stated on its timeline. */
interface LeaderFigures {
  readonly leader: string;
  /** The address of its API. */
  readonly api: string | null;
  /** Whether its last report says that it is running. */
  readonly isRunning: boolean;
  /** The highest position: what it may have sent. */
  readonly peak: number;
  /** The last position: what it has. */
  readonly location: number;
  /** When its last report was requested, in ms of rolecall's clock. */
  readonly sentAtMs: number;
}

type ForkInputs = Pick<DivergenceInputs, "after" | "isListed" | "isExempt">;

/**
 * Applies rule 6 (c) to a new report, and ends the marks by (c) and (d). (c) finds WAL of a replica that its leader
 * does not have, although both are on the same timeline. The cluster manager may promote a node that lacks the last
 * leader's timeline, and so begin another one with the same number. A replica of the last leader then appears to be on
 * the present leader's timeline. PostgreSQL may even list it as streaming. It usually replays nothing.
 *
 * A replica replays only WAL that its leader has written. So if it had replayed a position before the leader's report
 * was requested, and that report states a lower one, the replica has WAL that the leader does not have. What the leader
 * stated earlier does not count: a snapshot may have set it back on its timeline. A second, higher position of the
 * leader must confirm this, because a node may repeat an old answer. The received position does not count here: after a
 * crash, some versions of PostgreSQL replace an incomplete record that the replica has received already.
 *
 * A leader that does not move contradicts such a replica too, if the replica is unlisted: `nextIdleLeader`. A leader
 * whose database started anew below it does so with its next report: `afterSetBack`.
 * @param known the attachment before the report
 */
export function nextFork(view: ClusterView, known: Attachment, inputs: ForkInputs): ForkState {
  const { report, node } = inputs.after;
  const isHolder = view.lock.holder === node.name;
  if (isHolder && report !== null && statesPosition(report)) return { ahead: null, idleLeader: null, fork: null };
  if (report === null) return { ahead: known.ahead, idleLeader: known.idleLeader, fork: withoutWindow(known.fork) };
  const leader = isHolder ? null : comparableLeader(view, inputs.after, report);
  const { after, isListed, isExempt } = inputs;
  const compared: ComparedReport = { after, isListed, isExempt, report, leader };
  const idleLeader = nextIdleLeader(view, known.idleLeader, compared);
  const { ahead, fork } = nextForkByReplay(view, known, compared);
  const reached = walReached(report);
  const isContradicted =
    idleLeader !== null && leader !== null && leader.sentAtMs - idleLeader.sinceMs >= view.policy.guards.attachWindowMs;
  return { ahead, idleLeader, fork: isContradicted && reached !== null ? raised(fork, reached) : fork };
}

type ForkState = Pick<Attachment, "ahead" | "idleLeader" | "fork">;

/** A report, and the leader that it can be compared with; `null` if there is none. */
interface ComparedReport extends ForkInputs {
  readonly report: Report;
  readonly leader: LeaderFigures | null;
}

/**
 * The leader that does not move although the replica, unlisted, is past it. A running leader states its position anew
 * in each report. If it still states the same one after the replica had more, it does not have what the replica has.
 */
function nextIdleLeader(
  view: ClusterView,
  known: IdleLeader | null,
  { report, leader: figures, isListed }: ComparedReport,
): IdleLeader | null {
  const reached = walReached(report);
  if (reached === null) return known;
  if (figures === null) {
    // The leader is silent, or its query failed. The replica's report must not contradict the series meanwhile.
    const { position } = view.cluster;
    const isComparable = known !== null && position !== null && isOnTimeline(report, position);
    const isPast = isComparable && isPastFigures(report, known.location, position.peak?.highest ?? Infinity);
    return isPast ? known : null;
  }
  const { leader, api, location, peak, isRunning } = figures;
  if (!isRunning || !isPastFigures(report, location, peak) || isListed()) return null;
  const isSame = known?.leader === leader && known.api === api && known.location === location;
  return isSame ? known : { leader, api, location, sinceMs: view.nowMs };
}

function nextForkByReplay(
  view: ClusterView,
  known: Attachment,
  inputs: ComparedReport,
): Pick<Attachment, "ahead" | "fork"> {
  const { report, leader } = inputs;
  const { replayed } = report;
  if (replayed === null) return { ahead: known.ahead, fork: withoutWindow(known.fork) };
  const fork = withEnd(known.fork, replayed);
  const compared = leader === null ? "open" : compare(known.ahead, leader, replayed);
  const ahead = leader === null ? known.ahead : nextAhead(known.ahead, { compared, leader, replayed }, view);
  if (compared === "confirmed") return { ahead, fork: raised(fork, replayed) };
  if (fork === null) return { ahead, fork: null };
  return { ahead, fork: keptFork(view, fork, { ...inputs, replayed, compared }) };
}

/**
 * Whether a report is past its leader: it has replayed more than the leader stated last, or received more than the
 * leader has ever stated. A crash in place leaves records at the replicas that the leader has lost. The caller checks
 * that both are of the same timeline.
 */
export function isAheadOfLeader({ position }: Pick<ClusterState, "position">, report: Report): boolean {
  const peak = position?.peak ?? null;
  return peak !== null && isPastFigures(report, peak.last, peak.highest);
}

function isPastFigures({ received, replayed }: Report, last: number, highest: number): boolean {
  return (replayed ?? -1) > last || (received ?? -1) > highest;
}

/**
 * What the leader has stated, if the node's report can be compared with it: the leader is a primary whose last report
 * has a position, it is on the timeline of the node, and both have an API. The position on a page of an exporter may be
 * as old as the page's cache. After its restart, a standby leader may state a lower position than its replicas have.
 */
function comparableLeader({ cluster, lock }: ClusterView, after: Observation, report: Report): LeaderFigures | null {
  const leader = nodeNamed(cluster, lock.holder);
  const { position } = cluster;
  if (leader?.report?.role !== "primary" || leader.report.location === null || position === null) return null;
  if (leader.node.api === null || after.node.api === null || position.peak?.leader !== leader.node.name) return null;
  if (!isOnTimeline(report, position)) return null;
  return {
    leader: leader.node.name,
    api: leader.node.api,
    isRunning: leader.report.state === "running",
    peak: position.peak.highest,
    location: leader.report.location,
    sentAtMs: leader.sentAtMs,
  };
}

function isOnTimeline(report: Report, position: LeaderPosition): boolean {
  return report.timeline !== null && isSameSystemAndTimeline(report, position);
}

function compare(ahead: Ahead | null, { location, sentAtMs }: LeaderFigures, replayed: number): Comparison {
  if (replayed <= location) return "not ahead";
  if (ahead === null || sentAtMs <= ahead.sinceMs) return "open";
  if (location >= ahead.replayed) return "not ahead";
  return ahead.leaderAt !== null && location > ahead.leaderAt ? "confirmed" : "ahead";
}

interface AheadInputs {
  readonly compared: Comparison;
  readonly leader: LeaderFigures;
  readonly replayed: number;
}

function nextAhead(
  known: Ahead | null,
  { compared, leader, replayed }: AheadInputs,
  { nowMs }: Pick<ClusterView, "nowMs">,
): Ahead | null {
  if (replayed <= leader.location) return null;
  if (known === null || compared === "not ahead" || compared === "confirmed")
    return { replayed, sinceMs: nowMs, leaderAt: null };
  return compared === "ahead" && known.leaderAt === null ? { ...known, leaderAt: leader.location } : known;
}

/** The mark by what the node had replayed; the same object, without its window, if it is marked up to there. */
export function raised(known: Fork | null, replayed: number): Fork | null {
  if (known !== null && replayed <= known.upTo) return withoutWindow(known);
  return { upTo: replayed, isEndKnown: true, window: null };
}

/** What a former leader first reports as a replica is where its own WAL ends, if that is past what it had stated. */
function withEnd(known: Fork | null, replayed: number): Fork | null {
  return known === null || known.isEndKnown
    ? known
    : { ...known, upTo: Math.max(known.upTo, replayed), isEndKnown: true };
}

interface KeptInputs extends ComparedReport {
  readonly replayed: number;
  readonly compared: Comparison;
}

/**
 * Returns the mark after a report that does not confirm it. PostgreSQL replays WAL only if it continues what it has. So
 * a node that streams from the leader, has replayed past the mark, and is not ahead of the leader, is taken to have the
 * leader's WAL. After a rewind or a base backup, a node begins below the mark, and replays from there. While it replays
 * its own WAL after a restart, it is below the mark too, but not listed. A node that stays where the leader stays was
 * compared with another machine, such as a clone of the leader.
 */
function keptFork(view: ClusterView, known: Fork, inputs: KeptInputs): Fork | null {
  const { report, replayed, compared, leader, isListed, isExempt } = inputs;
  const { upTo } = known;
  const { position } = view.cluster;
  if (compared === "ahead") return withoutWindow(known);
  const isComparable = position !== null && (report.timeline === null || isOnTimeline(report, position));
  const isReached = isComparable && replayed <= position.highest;
  const isFed = isExempt || isListed();
  if (replayed > upTo) return isFed && (compared === "not ahead" || isReached) ? null : withoutWindow(known);
  const isAtEnd = replayed === upTo;
  const mayEnd = isAtEnd ? isWhereLeaderIs(replayed, leader) : isFed && report.state === "running";
  if (!mayEnd) return withoutWindow(known);
  const { window } = known;
  if (window === null || isAtEnd !== (window.replayed === upTo))
    return { ...known, window: { sinceMs: view.nowMs, replayed } };
  if (view.nowMs - window.sinceMs < view.policy.guards.attachWindowMs) return known;
  const hasNothingToReplay = isComparable && replayed === position.highest;
  return replayed > window.replayed || hasNothingToReplay ? null : known;
}

/** The size of the smallest segments of WAL, in bytes. */
const segmentMin = 2 ** 20;

/**
 * Whether a marked node and the leader are at one position. Two nodes with different WAL hardly stop there by chance,
 * except at the end of a segment, or if both wrote equally much from one position. A leader that writes may pass the
 * position, so both must stay there.
 */
function isWhereLeaderIs(replayed: number, leader: LeaderFigures | null): boolean {
  return replayed === leader?.location && replayed % segmentMin !== 0;
}

/** The mark, with the attach window to begin again. */
function withoutWindow(known: Fork | null): Fork | null {
  return known === null || known.window === null ? known : { ...known, window: null };
}
