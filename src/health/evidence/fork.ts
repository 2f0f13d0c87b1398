import type { Ahead, Attachment, Fork } from "../../cluster/attachment.ts";
import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { Report } from "../../cluster/documents/report.ts";
import type { ClusterView } from "./cluster-view.ts";
import { walReached } from "./report-position.ts";
import { isSameSystemAndTimeline } from "./shared-history.ts";

/**
 * How a replica's position compares with the leader's. `ahead`: the replica had reached a position that the leader had
 * not reached later. `not ahead`: the leader had that position, or has the present one. `open`: neither is known.
 */
type Comparison = "ahead" | "not ahead" | "open";

/** The highest position that the leader has stated, the last one, and when its last report was requested. */
interface Peak {
  readonly highest: number;
  readonly location: number;
  readonly sentAtMs: number;
}

/**
 * Applies rule 6 (c) to a new report: finds WAL of a replica that its leader does not have, although both are on the
 * same timeline. The cluster manager may promote a node that lacks the last leader's timeline, and so begin another one
 * with the same number. A replica of the last leader then counts as on the leader's timeline. PostgreSQL may even list
 * it as streaming, but it replays nothing.
 *
 * A replica receives only WAL that its leader has written. So if it had reached a position before the leader's report
 * was requested, and the leader has never stated it by then, it has other WAL. A second, higher position of the leader
 * must confirm this, because a node may repeat an old answer.
 * @param known the attachment before the report
 * @param after the observation with the report, measured
 */
export function nextFork(view: ClusterView, known: Attachment, after: Observation): Pick<Attachment, "ahead" | "fork"> {
  const { report, node } = after;
  if (view.lock.holder === node.name) return { ahead: null, fork: null };
  const reached = report === null ? null : walReached(report);
  if (report === null || reached === null) return { ahead: known.ahead, fork: known.fork };
  const peak = comparablePeak(view, after, report);
  const compared = peak === null ? "open" : compare(known.ahead, peak, reached);
  const isConfirmed = compared === "ahead" && isRaised(known.ahead, peak);
  const ahead = peak === null ? known.ahead : nextAhead(known.ahead, { compared, isConfirmed, peak, reached }, view);
  if (isConfirmed) return { ahead, fork: raisedFork(known.fork, reached) };
  const { location = null } = peak ?? {};
  return {
    ahead,
    fork: known.fork === null ? null : keptFork(known.fork, { report, reached, compared, location }, view),
  };
}

/** Whether a report has reached a higher position than the leader has ever stated. */
export function isAheadOfPeak({ position }: Pick<ClusterState, "position">, report: Report): boolean {
  const peak = position?.peak ?? null;
  const reached = walReached(report);
  return peak !== null && reached !== null && reached > peak.highest;
}

/**
 * The highest position that the leader has stated, if the node's report can be compared with it: the leader is a
 * primary that states its position now, on the timeline of the node, and both have an API. The position on a page of an
 * exporter may be as old as the page's cache. After its restart, a standby leader may state a lower position than its
 * replicas have.
 */
function comparablePeak({ cluster, lock }: ClusterView, after: Observation, report: Report): Peak | null {
  const leader = nodeNamed(cluster, lock.holder);
  const { position } = cluster;
  if (leader?.report?.role !== "primary" || leader.report.location === null || position === null) return null;
  if (leader.node.api === null || after.node.api === null || position.peak?.leader !== leader.node.name) return null;
  if (report.timeline === null || !isSameSystemAndTimeline(report, position)) return null;
  return { highest: position.peak.highest, location: leader.report.location, sentAtMs: leader.sentAtMs };
}

function compare(ahead: Ahead | null, { highest, sentAtMs }: Peak, reached: number): Comparison {
  if (reached <= highest) return "not ahead";
  if (ahead === null || sentAtMs <= ahead.sinceMs) return "open";
  return highest < ahead.reached ? "ahead" : "not ahead";
}

/** Whether the leader was below the replica's position before, and has advanced since. */
function isRaised(ahead: Ahead | null, peak: Peak | null): boolean {
  const leaderAt = ahead?.leaderAt ?? null;
  return peak !== null && leaderAt !== null && peak.highest > leaderAt;
}

interface AheadInputs {
  readonly compared: Comparison;
  readonly isConfirmed: boolean;
  readonly peak: Peak;
  readonly reached: number;
}

function nextAhead(
  known: Ahead | null,
  { compared, isConfirmed, peak, reached }: AheadInputs,
  { nowMs }: Pick<ClusterView, "nowMs">,
): Ahead | null {
  if (reached <= peak.highest) return null;
  if (known === null || compared === "not ahead" || isConfirmed) return { reached, sinceMs: nowMs, leaderAt: null };
  return compared === "ahead" && known.leaderAt === null ? { ...known, leaderAt: peak.highest } : known;
}

function raisedFork(known: Fork | null, reached: number): Fork {
  if (known === null) return { upTo: reached, belowSinceMs: null };
  return reached > known.upTo ? { ...known, upTo: reached } : known;
}

/** A report of a marked node. */
interface ForkedReport {
  readonly report: Report;
  readonly reached: number;
  readonly compared: Comparison;
  /** The leader's last position; `null` if the two cannot be compared. */
  readonly location: number | null;
}

/**
 * Returns the mark after a report that confirms nothing. PostgreSQL replays WAL only if it continues what it has. So a
 * node that replays past the marked position, and is not ahead of the leader, has the leader's WAL by now. The same is
 * true of a node that is exactly where the leader is: then a clone was taken for the leader. A rewound or copied node
 * begins below the marked position. But a node may also be below it while it recovers after a restart.
 */
function keptFork(
  known: Fork,
  { report, reached, compared, location }: ForkedReport,
  { nowMs, policy }: Pick<ClusterView, "nowMs" | "policy">,
): Fork | null {
  const { replayed } = report;
  const hasLeadersWal =
    replayed !== null && (replayed > known.upTo || (replayed === known.upTo && replayed === location));
  if (compared === "not ahead" && hasLeadersWal) return null;
  if (reached >= known.upTo || report.state !== "running")
    return known.belowSinceMs === null ? known : { ...known, belowSinceMs: null };
  const belowSinceMs = known.belowSinceMs ?? nowMs;
  if (nowMs - belowSinceMs >= policy.guards.attachWindowMs) return null;
  return known.belowSinceMs === null ? { ...known, belowSinceMs } : known;
}
