import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition, SharedHistory } from "../../cluster/snapshot.ts";

/** More timelines back than any replica is behind. */
const timelinesMax = 8;

/**
 * What a new leader position shares with the one before, as far as that is known without `/history`: the new leader was a replica on the
 * old timeline, so what it had of it then is history of both (design.md, rule 4).
 * @param leader what was known of the new leader before it was seen on the new timeline
 * @returns nothing where the new pair is no successor of the old one
 */
export function sharedHistory(
  known: LeaderPosition | null,
  next: Pick<LeaderPosition, "system" | "timeline">,
  leader: Observation,
): readonly SharedHistory[] {
  if (known === null || known.timeline === null || !isSuccessor(known, next)) return [];
  const { received, replayed, timeline } = leader.attachment;
  if (timeline !== known.timeline || (received === null && replayed === null)) return [];
  const upTo = Math.max(received ?? 0, replayed ?? 0);
  const earlier = known.shared.map((one) => ({ ...one, upTo: Math.min(one.upTo, upTo) }));
  return [...earlier, { timeline, upTo }].slice(-timelinesMax);
}

/** Whether a pair is a later timeline of the same system. */
export function isSuccessor(
  known: Pick<LeaderPosition, "system" | "timeline">,
  next: Pick<LeaderPosition, "system" | "timeline">,
): boolean {
  return (
    known.system === next.system && known.timeline !== null && next.timeline !== null && next.timeline > known.timeline
  );
}

/**
 * Up to where an earlier timeline is known to be the leader's own history: its switch point in `/history`, or until that has it what the
 * leader had of it as a replica.
 * @returns bytes of WAL; `null` where nothing is known of that timeline
 */
export function sharedUpTo(
  { switchPoints, position }: Pick<ClusterState, "switchPoints" | "position">,
  timeline: number,
): number | null {
  return switchPoints?.get(timeline) ?? position?.shared.find((one) => one.timeline === timeline)?.upTo ?? null;
}
