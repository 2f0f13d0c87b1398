import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";

/**
 * Whether a replica had replayed more than its leader stated in a report that was requested later: the leader was set
 * back on its timeline, for example to a snapshot of its storage (rule 6 (c)). Then the replica's WAL is not the
 * leader's, so the replica is not caught up, and what it reached does not show how far the leader is. A replica that
 * received more is no such case: a leader that crashed may have sent records that it lost.
 *
 * Only status documents of primaries are compared: a page of an exporter may be as old as its cache, and a standby
 * leader may state a lower position than its replicas have.
 */
export function isPastLeader(
  { lastStatement: stated }: Pick<ClusterState, "lastStatement">,
  { node, report, attachment }: Pick<Observation, "node" | "report" | "attachment">,
): boolean {
  const { replayed, replayedSinceMs } = attachment;
  if (stated === null || replayed === null || replayedSinceMs === null) return false;
  if (node.api === null || node.name === stated.by || replayedSinceMs >= stated.sentAtMs) return false;
  const leader = nodeNamed(stated.evidence, stated.by);
  const known = leader === undefined || leader.node.api === null ? null : leader.report;
  const location = primaryLocation(known);
  if (known === null || location === null || replayed <= location) return false;
  return isOnTimelineOf(known, { system: report?.system ?? null, timeline: attachment.timeline });
}

/** The position that a primary states; `null` if the report is no primary's, or has none. */
export function primaryLocation(report: Report | null): number | null {
  return report?.role === "primary" ? report.location : null;
}

/** Whether two figures are of the same timeline and, as far as both are known, of the same database system. */
export function isOnTimelineOf(
  leader: Pick<Report, "system" | "timeline">,
  { system, timeline }: Pick<Report, "system" | "timeline">,
): boolean {
  if (timeline === null || leader.timeline !== timeline) return false;
  return system === null || leader.system === null || system === leader.system;
}
