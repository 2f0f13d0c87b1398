import type { SwitchPoints } from "../../../cluster/documents/history.ts";
import { lockHolderOf } from "../../../cluster/leadership.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderPosition, SharedHistory } from "../../../cluster/snapshot.ts";

/** What two positions must have in common to be comparable. */
export type SystemAndTimeline = Pick<LeaderPosition, "system" | "timeline">;

/** What is known of the leader's history: the newest `/history`, and what the leader had as a replica. */
type KnownHistory = Pick<ClusterState, "switchPoints" | "position">;

/** The maximum number of earlier timelines: no replica is further behind. */
const timelinesMax = 8;

/**
 * Returns the history that a new leader position shares with the previous one, as far as it is known without
 * `/history`: the new leader was a replica on the old timeline, so what it had of that timeline is history of both
 * (rule 4).
 * @param leader the new leader's observation before it was seen on the new timeline
 * @returns empty if the new position is not on a later timeline of the same system
 */
export function sharedHistory(
  known: LeaderPosition | null,
  next: SystemAndTimeline,
  leader: Observation,
): readonly SharedHistory[] {
  if (known === null || known.timeline === null || !isSuccessor(known, next)) return [];
  const { received, replayed, timeline } = leader.attachment;
  if (timeline !== known.timeline || (received === null && replayed === null)) return [];
  const upTo = Math.max(received ?? 0, replayed ?? 0);
  const earlier = known.shared.map((one) => ({ ...one, upTo: Math.min(one.upTo, upTo) }));
  return [...earlier, { timeline, upTo }].slice(-timelinesMax);
}

/** Whether two positions are of the same system and timeline, so that they can be compared. */
export function isSameSystemAndTimeline(one: SystemAndTimeline, other: SystemAndTimeline): boolean {
  return one.system === other.system && one.timeline === other.timeline;
}

/** Whether `next` is on a later timeline of the same system. */
export function isSuccessor(known: SystemAndTimeline, next: SystemAndTimeline): boolean {
  return (
    known.system === next.system && known.timeline !== null && next.timeline !== null && next.timeline > known.timeline
  );
}

/**
 * Returns up to which position an earlier timeline is the leader's history: its switch point in `/history`; until that
 * is known, what the leader had of it as a replica.
 * @returns bytes of WAL; `null` if nothing is known of that timeline
 */
export function sharedUpTo({ switchPoints, position }: KnownHistory, timeline: number): number | null {
  return switchPoints?.get(timeline) ?? position?.shared.find((one) => one.timeline === timeline)?.upTo ?? null;
}

/**
 * Returns the history to keep: the known one or the received one (rule 4). For up to `loop_wait` after a promotion,
 * nodes return an old history, which lacks the newest rows. The known one is then kept, but not if one of these rows
 * ends the leader's present timeline or a later one: the history of the leader cannot contain such a row.
 */
export function newerHistory({ switchPoints, position }: KnownHistory, received: SwitchPoints): SwitchPoints {
  if (switchPoints === null) return received;
  const newest = Math.max(...received.keys());
  const isOlder =
    [...received].every(([timeline, at]) => switchPoints.get(timeline) === at) &&
    [...switchPoints.keys()].every(
      (timeline) => received.has(timeline) || (timeline > newest && timeline < (position?.timeline ?? 0)),
    );
  return isOlder ? switchPoints : received;
}

/**
 * Whether the known history ends before the holder's timeline and must be requested again: nodes return an old one for
 * up to `loop_wait` after a promotion. The first timeline has no history.
 */
export function isHistoryWanted(cluster: ClusterState): boolean {
  const timeline = nodeNamed(cluster, lockHolderOf(cluster.leadership))?.report?.timeline ?? null;
  return timeline !== null && timeline > 1 && cluster.switchPoints?.has(timeline - 1) !== true;
}
