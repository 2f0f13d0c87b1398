import type { Attachment } from "../cluster/attachment.ts";
import type { Observation } from "../cluster/observation.ts";
import type { Report } from "../cluster/report.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import { reachedBy } from "./position.ts";
import { freshLeader, isListed } from "./stream.ts";
import type { Sight } from "./sight.ts";

/** Whether the report is on a lower timeline than the leader. */
export function isOnLowerTimeline(part: ClusterPart, report: Report): boolean {
  const leading = part.position?.timeline ?? null;
  return leading !== null && report.timeline !== null && report.timeline < leading;
}

/** Where the history left the report's timeline; `null` while the history does not tell. */
export function switchPointOf(part: ClusterPart, report: Report): number | null {
  return report.timeline === null ? null : (part.switchPoints?.get(report.timeline) ?? null);
}

/**
 * Whether the node has WAL that is not in the leader's history (design.md, rule 6): so it was found when an outcome was recorded, or
 * there is no fresh leader whose sender list could tell better.
 */
export function hasDiverged(sight: Sight, observation: Observation): boolean {
  if (observation.attachment.isDiverged) return true;
  return sight.standing.holder === null && isPast(sight.part, observation);
}

/** What a report is looked at with. */
interface Lower {
  readonly known: Attachment;
  readonly report: Report;
  /** Whether it is on a lower timeline than the leader, and not shown streaming by a sender. */
  readonly isLower: boolean;
  readonly listed: () => boolean;
  /** Whether the node needs no stream, so that no list could show it. */
  readonly isExempt: boolean;
}

/** Takes a report into rule 6: what is accused stays so until it is on the leader's timeline, not past the switch point, or listed. */
export function nextDivergence(sight: Sight, lower: Lower, positionedMs: number): Pick<Attachment, "lowerMs" | "isDiverged"> {
  const { known, report, isLower, listed, isExempt } = lower;
  const { lowerMs, isDiverged } = known;
  // A report that does not say where it is takes nothing back, nor does one that came before the leader's timeline is known (a restart).
  const isComparable = report.timeline !== null && (sight.part.position?.timeline ?? null) !== null;
  if (!isComparable && isDiverged) return { lowerMs, isDiverged };
  if (!isLower || listed()) return { lowerMs: 0, isDiverged: false };
  const windowMs = sight.settings.guards.attachWindowMs;
  const nextMs = isExempt ? 0 : lowerMs + positionedMs;
  const [reached, left] = [reachedBy(report), switchPointOf(sight.part, report)];
  const isPastIt = reached !== null && left !== null && reached > left;
  const isBack = reached !== null && left !== null && reached <= left;
  const isAccused = nextMs >= windowMs || (isDiverged && !isBack) || (isPastIt && sight.standing.holder === null);
  return { lowerMs: nextMs, isDiverged: isAccused };
}

/**
 * Accuses whoever is past the switch point once a sender list that was asked for after its report does not show it, or no leader is fresh:
 * right after a promotion a replica's own timeline is an old one although it streams on the new.
 */
export function withDivergence(part: ClusterPart, sightOf: (part: ClusterPart) => Sight): ClusterPart {
  if (!part.nodes.some((node) => !node.attachment.isDiverged && isPast(part, node))) return part;
  const sight = sightOf(part);
  const leader = freshLeader(sight);
  let { nodes } = part;
  for (const [at, node] of part.nodes.entries()) {
    if (node.attachment.isDiverged || !isPast(part, node)) continue;
    // A leader whose own query failed lists nobody, and says nothing by it.
    const isLookedFor = leader === null ? sight.standing.holder === null : leader.sentAtMs > node.sentAtMs;
    if (isLookedFor && !isListed(sight, node.node.name))
      nodes = nodes.with(at, { ...node, attachment: { ...node.attachment, isDiverged: true } });
  }
  return nodes === part.nodes ? part : { ...part, nodes };
}

/** Whether the node's last report is on a lower timeline than the leader's, past the point where that was left. */
function isPast(part: ClusterPart, { report }: Observation): boolean {
  if (report === null || !isOnLowerTimeline(part, report)) return false;
  const [reached, left] = [reachedBy(report), switchPointOf(part, report)];
  return reached !== null && left !== null && reached > left;
}
