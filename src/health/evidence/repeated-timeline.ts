import { nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../cluster/snapshot.ts";
import { isSameSystemAndTimeline } from "./shared-history.ts";

/**
 * Whether the leader that stated `next` began its timeline itself, although the last leader was on a timeline with the
 * same number. Then the two timelines have different WAL (rule 6 (d)).
 *
 * PostgreSQL begins a new timeline at each promotion. So a primary that was last seen as a replica on an earlier
 * timeline began its own. A standby leader begins none.
 * @param cluster the state with the report that states `next`
 * @param known the position that was known before
 */
export function isRepeatedTimeline(
  cluster: Pick<ClusterState, "nodes" | "index">,
  known: LeaderPosition,
  next: LeaderPosition,
): boolean {
  if (known.peak === null || next.peak === null || known.peak.leader === next.peak.leader) return false;
  if (!isSameSystemAndTimeline(known, next)) return false;
  const leader = nodeNamed(cluster, next.peak.leader);
  return leader !== undefined && hasBegunTimeline(leader, next.timeline);
}

/** A leader that states no timeline counts as on the known one. It may have begun a later one. */
function hasBegunTimeline({ report, attachment }: Observation, timeline: number | null): boolean {
  if (report?.role !== "primary" || report.timeline === null || report.timeline !== timeline) return false;
  return attachment.timeline !== null && attachment.timeline < timeline;
}

/**
 * Marks the last leader as diverged if the present one began a timeline with the same number (rule 6 (d)).
 * @param before the state before the outcome that made the position the present leader's
 */
export function markRepeatedTimeline({ position: known }: ClusterState, cluster: ClusterState): ClusterState {
  const { position } = cluster;
  if (known === null || known.peak === null || position === null) return cluster;
  if (!isRepeatedTimeline(cluster, known, position)) return cluster;
  const at = cluster.index.get(known.peak.leader);
  const node = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || node === undefined) return cluster;
  const fork = { upTo: known.peak.highest, isEndKnown: false, belowSinceMs: null };
  const attachment = { ...node.attachment, fork };
  return { ...cluster, nodes: cluster.nodes.with(at, { ...node, attachment }) };
}
