import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition, SharedHistory } from "../../cluster/snapshot.ts";

/** What two positions must have in common to be comparable. */
export type SystemAndTimeline = Pick<LeaderPosition, "system" | "timeline">;

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
export function sharedUpTo(
  { switchPoints, position }: Pick<ClusterState, "switchPoints" | "position">,
  timeline: number,
): number | null {
  return switchPoints?.get(timeline) ?? position?.shared.find((one) => one.timeline === timeline)?.upTo ?? null;
}
