import type { Observation } from "../cluster/observation.ts";
import type { Report } from "../cluster/report.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { freshLeader, reachedBy } from "./stream.ts";
import type { Sight } from "./sight.ts";

/** Whether the report is on a lower timeline than the leader. */
export function isOnLowerTimeline(part: ClusterPart, report: Report): boolean {
  const leading = part.position?.timeline ?? null;
  return leading !== null && report.timeline !== null && report.timeline < leading;
}

/**
 * Whether the node has WAL that is not in the leader's history (design.md, rule 6): past the point where its timeline
 * was left, at once; or still on it after `attach_window` with a fresh leader, for a healthy replica follows within moments.
 */
export function hasDiverged(sight: Sight, observation: Observation): boolean {
  const { report, lowerTimelineSinceMs } = observation;
  const { part, settings } = sight;
  if (report === null || freshLeader(sight) === null || !isOnLowerTimeline(part, report)) return false;
  const reached = reachedBy(report);
  const switchPoint = switchPointOf(part, report);
  if (reached !== null && switchPoint !== null && reached > switchPoint) return true;
  return lowerTimelineSinceMs !== null && observation.sentAtMs - lowerTimelineSinceMs >= settings.guards.attachWindowMs;
}

/** Where the history left the report's timeline; `null` while the history does not tell. */
export function switchPointOf(part: ClusterPart, report: Report): number | null {
  return report.timeline === null ? null : (part.switchPoints?.get(report.timeline) ?? null);
}
