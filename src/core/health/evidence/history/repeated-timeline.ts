import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState, LeaderPosition } from "../../../cluster/snapshot.ts";
import { isSameSystemAndTimeline, isSuccessor } from "./history.ts";

/**
 * Whether the leader that stated `next` does not have the WAL of the last one, on a timeline of some number (rule 6
 * (d)): it began a timeline with the same number itself, or it was marked as having other WAL and began a later one.
 *
 * PostgreSQL begins a new timeline at each promotion. So the timeline of a primary that was last known as a replica on
 * an earlier timeline is its own. A standby leader begins none.
 * @param leader its new report, and its attachment before that
 * @param known the position that was known before
 */
export function hasOtherWal(
  leader: Pick<Observation, "report" | "attachment">,
  known: LeaderPosition,
  next: LeaderPosition,
): boolean {
  if (known.peak === null || next.peak === null || known.peak.leader === next.peak.leader) return false;
  if (isSuccessor(known, next)) return leader.attachment.fork !== null;
  return isSameSystemAndTimeline(known, next) && hasBegunTimeline(leader, next.timeline);
}

/**
 * Whether the timeline of a primary is its own: as a replica, it was last on an earlier one. A leader that states no
 * timeline counts as on the known one, but may have begun a later one.
 */
function hasBegunTimeline(
  { report, attachment }: Pick<Observation, "report" | "attachment">,
  timeline: number | null,
): boolean {
  if (report?.role !== "primary" || timeline === null || report.timeline !== timeline) return false;
  return attachment.timeline !== null && attachment.timeline < timeline;
}

/**
 * Marks the last leader as diverged if the present one does not have its WAL (rule 6 (d)). A node without an API is not
 * marked: the position on a page of an exporter may be as old as the page's cache.
 * @param before the state before the outcome that made the position the present leader's
 */
export function markLastLeader(before: ClusterState, cluster: ClusterState): ClusterState {
  const [known, position] = [before.position, cluster.position];
  if (known === null || known.peak === null || position === null || position.peak === null) return cluster;
  const report = nodeNamed(cluster, position.peak.leader)?.report ?? null;
  const attachment = nodeNamed(before, position.peak.leader)?.attachment;
  if (attachment === undefined || !hasOtherWal({ report, attachment }, known, position)) return cluster;
  const at = cluster.index.get(known.peak.leader);
  const last = at === undefined ? undefined : cluster.nodes[at];
  if (at === undefined || last === undefined || last.node.api === null) return cluster;
  const fork = forkOf(last, known.peak.last);
  return { ...cluster, nodes: cluster.nodes.with(at, { ...last, attachment: { ...last.attachment, fork } }) };
}

/** The mark of a former leader. If it is a replica already, its replayed position is where its own WAL ends. */
function forkOf({ report }: Observation, stated: number): Observation["attachment"]["fork"] {
  const replayed = report?.replayed ?? null;
  if (replayed === null) return { upTo: stated, isEndKnown: false, window: null };
  return { upTo: Math.max(stated, replayed), isEndKnown: true, window: null };
}
