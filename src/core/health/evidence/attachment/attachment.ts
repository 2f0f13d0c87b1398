import type { Attachment } from "../../../cluster/attachment.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import { isNoStream } from "../../../cluster/values/tags.ts";
import { isOnLowerTimeline, nextDivergence } from "./divergence.ts";
import { nextFork } from "./fork.ts";
import { walReached } from "../node/report-position.ts";
import type { ClusterView } from "../leadership/cluster-view.ts";
import { isPastLeader } from "../position/past-leader.ts";
import { freshLeader, isInSenderChain, isListedStreaming, isUnknownToLists } from "../leadership/sender-chain.ts";

/** Whether the node needs no stream: it is configured with `archive_fed`, or tagged `nostream`. */
export function isExempt({ node, report }: Observation): boolean {
  return node.isArchiveFed || (report !== null && isNoStream(report.tags));
}

/**
 * Whether a report has reached the leader's position on the leader's timeline. A report without a timeline counts as on
 * it. Before a leader has stated a position, only the positions that replicas have received are known, including the
 * node's own. A replica that has reached the highest of them may still be behind the leader. One that has replayed more
 * than the leader has by now (`isPastLeader`) is not caught up with it.
 */
export function hasNothingToReceive(
  { cluster }: Pick<ClusterView, "cluster">,
  { report, isPast, isStreaming }: ReachedReport,
): boolean {
  const { position } = cluster;
  const reached = walReached(report);
  if (position === null || position.peak === null || reached === null || reached < position.highest) return false;
  if (isPast()) return false;
  return report.timeline === null || report.timeline === position.timeline || isStreaming();
}

interface ReachedReport {
  readonly report: Report;
  /** Whether the node had replayed more than its leader has by a later report. */
  readonly isPast: () => boolean;
  /** Whether a sender list shows it streaming. */
  readonly isStreaming: () => boolean;
}

/**
 * Updates a node's attachment by its new report (rules 5 and 6).
 * @param pair the node's observation before and after the report, which is measured already
 * @returns the same object if nothing changed
 */
export function nextAttachment(
  view: ClusterView,
  { before, after }: { readonly before: Observation; readonly after: Observation },
): Attachment {
  const { report, node } = after;
  const known = before.attachment;
  if (report === null) return known;
  const isListed = once(() => isInSenderChain(view, node.name));
  const isStreaming = once(() => isListedStreaming(view, node.name));
  const at = lastKnown(known, report, view.nowMs);
  const isPast = (): boolean => isPastLeader(view.cluster, { node, report, attachment: { ...known, ...at } });
  const signs = {
    hasStrongerSign:
      view.lock.holder === node.name ||
      isExempt(after) ||
      hasMoved(known, report) ||
      hasNothingToReceive(view, { report, isStreaming, isPast }),
    isListed,
  };
  // The time that this report adds to the counts. It is 0 while no fresh report of the leader has a position.
  const positionedMs = before.report === null || !isCounted(report) ? 0 : positionedTime(view, before, after);
  const windowMs = view.policy.guards.attachWindowMs;
  const { received, replayed, timeline, replayedSinceMs } = at;
  const { silentMs, listedMs, isDetached, isStalled } = isUnknownToLists(view, after)
    ? noSignCounts
    : countSigns(known, signs, { positionedMs, windowMs });
  const isLowerAndNotStreaming = isOnLowerTimeline(view.cluster, after) && !isStreaming();
  const divergenceInputs = { known, after, isLowerAndNotStreaming, isListed, isExempt: isExempt(after) };
  const { lowerTimelineMs, pastSinceMs, isOffTimeline } = nextDivergence(view, divergenceInputs, positionedMs);
  const { ahead, idleLeader, fork } = nextFork(view, known, divergenceInputs);
  const next: Attachment = {
    received,
    replayed,
    timeline,
    replayedSinceMs,
    silentMs,
    listedMs,
    isDetached,
    isStalled,
    lowerTimelineMs,
    pastSinceMs,
    isOffTimeline,
    ahead,
    idleLeader,
    setBack: view.lock.holder === node.name ? null : known.setBack,
    fork,
  };
  return isSame(known, next) ? known : next;
}

/**
 * Restarts a node's counts towards the attachment window after a change of leader or timeline. The counts of a marked
 * node go on: both counts of rule 5 if it is detached or stalled, and the time on a lower timeline if that has reached
 * the window. A node marked by its timeline also keeps the time of its first report past the switch point.
 * @param windowMs the length of the window
 */
export function restartWindow(observation: Observation, nowMs: number, windowMs: number): Observation {
  const { attachment: known } = observation;
  const isMarked = known.isDetached || known.isStalled;
  const next: Attachment = {
    ...known,
    silentMs: isMarked ? known.silentMs : 0,
    listedMs: isMarked ? known.listedMs : 0,
    lowerTimelineMs: known.lowerTimelineMs >= windowMs ? known.lowerTimelineMs : 0,
    pastSinceMs: known.isOffTimeline ? known.pastSinceMs : null,
    ahead: null,
    idleLeader: null,
    setBack: null,
  };
  return { ...observation, countedAtMs: nowMs, attachment: isSame(known, next) ? known : next };
}

const noSignCounts: SignCounts = { silentMs: 0, listedMs: 0, isDetached: false, isStalled: false };

type SignCounts = Pick<Attachment, "silentMs" | "listedMs" | "isDetached" | "isStalled">;

/**
 * Updates the counts and marks by the signs of a report. Being listed is the weakest sign: a frozen receiver stays
 * listed for a minute.
 */
function countSigns(
  known: SignCounts,
  signs: { readonly hasStrongerSign: boolean; readonly isListed: () => boolean },
  { positionedMs, windowMs }: { readonly positionedMs: number; readonly windowMs: number },
): SignCounts {
  if (signs.hasStrongerSign) return noSignCounts;
  if (signs.isListed()) {
    // A detached node restarts its count: it has only just reconnected.
    const listedMs = known.isDetached && !known.isStalled ? 0 : known.listedMs + positionedMs;
    return { silentMs: 0, listedMs, isDetached: false, isStalled: known.isStalled || listedMs >= windowMs };
  }
  const silentMs = known.silentMs + positionedMs;
  return {
    silentMs,
    listedMs: known.listedMs,
    isDetached: known.isDetached || silentMs >= windowMs,
    isStalled: known.isStalled,
  };
}

/** Only a running replica has something to receive. The state is `unknown` if the node's own query failed. */
function isCounted({ role, state }: Report): boolean {
  return role !== "primary" && (state === "running" || state === "unknown");
}

/**
 * The time between two successive reports, in ms, while the holder's report is fresh and has a position; else 0. A
 * gap without probes counts for the maximum age of evidence at most.
 */
function positionedTime(view: ClusterView, before: Observation, { node, sentAtMs }: Observation): number {
  const leader = freshLeader(view);
  if (leader === null) return 0;
  const longestMs = node.api === null ? Math.max(view.policy.pageMaxAgeMs, view.maxAgeMs) : view.maxAgeMs;
  // Past the leader's last page nothing is known of its position.
  const upToMs = leader.node.api === null ? Math.min(sentAtMs, leader.exporter?.pageSentAtMs ?? -Infinity) : sentAtMs;
  return Math.max(0, Math.min(upToMs - before.countedAtMs, longestMs));
}

type Positions = Pick<Attachment, "received" | "replayed" | "timeline" | "replayedSinceMs">;

/** A node that has received nothing since its start reports 0. */
function receivedOf({ received }: Pick<Report, "received">): number | null {
  return received === 0 ? null : received;
}

function lastKnown(known: Positions, report: Report, nowMs: number): Positions {
  const { replayed, timeline } = report;
  const received = receivedOf(report);
  if (received === null && replayed === null) return known;
  const replayedSinceMs = replayed === null ? null : replayed === known.replayed ? known.replayedSinceMs : nowMs;
  return { received, replayed, timeline: timeline ?? known.timeline, replayedSinceMs };
}

/**
 * Whether a report is past the last one that had positions. A received position that comes and goes is no movement:
 * if only one of the two reports has it, the replayed position must have advanced too.
 */
function hasMoved(known: Pick<Attachment, "received" | "replayed">, report: Report): boolean {
  const reached = walReached(report);
  const last = walReached(known);
  if (reached === null || last === null || reached <= last) return false;
  const bothOrNeither = (receivedOf(report) === null) === (known.received === null);
  return bothOrNeither || (report.replayed ?? 0) > (known.replayed ?? 0);
}

/**
 * Runs for every report of every node. Comparing field by field costs a tenth of a loop over keys. `replayedSinceMs`
 * changes with `replayed` alone.
 */
function isSame(one: Attachment, other: Attachment): boolean {
  return (
    one.received === other.received &&
    one.replayed === other.replayed &&
    one.timeline === other.timeline &&
    one.silentMs === other.silentMs &&
    one.listedMs === other.listedMs &&
    one.lowerTimelineMs === other.lowerTimelineMs &&
    one.pastSinceMs === other.pastSinceMs &&
    one.isDetached === other.isDetached &&
    one.isStalled === other.isStalled &&
    one.isOffTimeline === other.isOffTimeline &&
    one.ahead === other.ahead &&
    one.idleLeader === other.idleLeader &&
    one.setBack === other.setBack &&
    one.fork === other.fork
  );
}

/** Defers a computation until its first use, and runs it once at most. */
function once(compute: () => boolean): () => boolean {
  let result: boolean | undefined;
  return () => (result ??= compute());
}
