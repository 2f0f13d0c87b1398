import type { SetBack } from "../../../cluster/attachment.ts";
import type { Report } from "../../../cluster/documents/report.ts";
import { nodeNamed } from "../../../cluster/lookup.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { isOnTimelineOf, primaryLocation } from "../position/past-leader.ts";
import { walReached } from "../node/report-position.ts";
import { raised } from "./fork.ts";

/** A primary's report, with what the rule needs of it. */
interface Stated {
  readonly node: string;
  readonly api: string;
  readonly startedAt: string;
  readonly location: number;
  readonly report: Report;
  readonly sentAtMs: number;
}

/**
 * Marks replicas that have WAL that their leader lost when it was set back on its timeline (rule 6 (c)). The leader's
 * database started anew, and the first position that it stated since is below what the replica had replayed before that
 * report was requested. The leader may pass that position at once, so comparing later positions would show nothing. Its
 * next report must state the same start: an answer may be an old one.
 *
 * After a crash in place a leader has all that any replica replayed: PostgreSQL sends no WAL that it has not flushed.
 * @param cluster the state before the leader's statement is recorded
 * @param leader the lock holder, with the report that states its position
 * @returns the nodes; the same array if nothing changes
 */
export function afterSetBack(
  { nodes, lastStatement }: Pick<ClusterState, "nodes" | "lastStatement">,
  leader: Observation,
): ClusterState["nodes"] {
  const stated = statedBy(leader);
  if (stated === null) return nodes;
  const before = nodeNamed(lastStatement?.evidence ?? { nodes: [], index: new Map() }, stated.node);
  const last = lastStatement?.by === stated.node && before !== undefined ? statedBy(before) : null;
  const isRestarted =
    last !== null &&
    last.api === stated.api &&
    last.startedAt !== stated.startedAt &&
    isOnTimelineOf(last.report, stated.report);
  if (!isRestarted && nodes.every(({ attachment }) => attachment.setBack === null)) return nodes;
  let changed = nodes;
  for (const [at, replica] of nodes.entries()) {
    if (replica.node.name === stated.node) continue;
    const { attachment } = replica;
    const known = attachment.setBack;
    const isConfirmed = known !== null && isSameStart(known, stated);
    const earlier = nodeNamed(lastStatement?.evidence ?? { nodes: [], index: new Map() }, replica.node.name);
    // What is awaited is of the start that the leader stated last: one that has started anew confirms nothing.
    const setBack = isRestarted ? setBackOf(replica, earlier, stated) : null;
    // Since then the replica may have been built anew from the leader.
    const isStill = isConfirmed && (attachment.replayed ?? Infinity) >= known.replayed;
    // What it has received by now it may replay later.
    const reached = replica.report === null ? null : walReached(replica.report);
    const fork = isStill
      ? raised(attachment.fork, Math.max(known.replayed, reached ?? known.replayed))
      : attachment.fork;
    // What is confirmed is no longer awaited, so a new mark changes both.
    if (setBack !== known) changed = changed.with(at, { ...replica, attachment: { ...attachment, setBack, fork } });
  }
  return changed;
}

function statedBy({ node, report, sentAtMs }: Observation): Stated | null {
  const location = primaryLocation(report);
  if (report === null || location === null || report.startedAt === null || node.api === null) return null;
  return { node: node.name, api: node.api, startedAt: report.startedAt, location, report, sentAtMs };
}

function isSameStart(known: SetBack, { node, api, startedAt }: Stated): boolean {
  return known.leader === node && known.api === api && known.startedAt === startedAt;
}

/** @param earlier the replica when the leader last stated its position before */
function setBackOf(replica: Observation, earlier: Observation | undefined, stated: Stated): SetBack | null {
  const { node, report, attachment } = replica;
  if (node.api === null || report === null || !isOnTimelineOf(stated.report, report)) return null;
  const replayed = replayedBefore(attachment, stated.sentAtMs) ?? replayedBefore(earlier?.attachment, stated.sentAtMs);
  if (replayed === null || replayed <= stated.location) return null;
  return { leader: stated.node, api: stated.api, startedAt: stated.startedAt, replayed };
}

/** What a node had replayed before an instant; `null` if its report came later. */
function replayedBefore(attachment: Observation["attachment"] | undefined, atMs: number): number | null {
  const sinceMs = attachment?.replayedSinceMs ?? null;
  return attachment === undefined || sinceMs === null || sinceMs >= atMs ? null : attachment.replayed;
}
