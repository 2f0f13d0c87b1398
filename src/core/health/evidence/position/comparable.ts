import type { Report } from "../../../cluster/documents/report.ts";
import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import { isDistrusted } from "../node/active-drain.ts";
import { isPastLeader } from "./past-leader.ts";
import { loopWaitMs, retryTimeoutMs } from "../node/freshness.ts";

/**
 * Whether what a node has reached can show how far the leader was: not if it has WAL of its own on a timeline of that
 * number (rule 6), or has replayed more than the leader has by now, nor if an operator distrusts it.
 * @param nowMs in ms of rolecall's clock
 */
export function hasWalOfLeader(
  cluster: ClusterState,
  observation: Pick<Observation, "node" | "report" | "attachment">,
  nowMs: number,
): boolean {
  const { node, attachment } = observation;
  return attachment.fork === null && !isPastLeader(cluster, observation) && !isDistrusted(cluster, node.name, nowMs);
}

/** The report's positions in the leader's history; `null` if its replayed position is not known to be in it. */
export function comparable(
  cluster: ClusterState,
  report: Pick<Report, "timeline" | "received" | "replayed">,
): Pick<Report, "received" | "replayed"> | null {
  const { received, replayed } = report;
  const end = endOfShared(cluster, report.timeline);
  if (end === null) return null;
  const decisive = replayed ?? received;
  if (decisive !== null && decisive > end) return null;
  return { replayed, received: received !== null && received > end ? null : received };
}

/**
 * Returns up to which position a timeline is the leader's history. If that is unknown, because the node reports no
 * timeline or the switch point is not known yet, a node is compared while it is not ahead of the leader.
 */
function endOfShared(cluster: ClusterState, timeline: number | null): number | null {
  const { position, switchPoints } = cluster;
  if (position === null) return null;
  if (timeline === position.timeline) return Infinity;
  if (timeline === null || position.timeline === null) return position.highest;
  if (timeline > position.timeline || isSkipped(cluster, timeline)) return null;
  return switchPoints?.get(timeline) ?? position.highest;
}

/**
 * Whether the leader's history leads past a lower timeline: a `/history` with rows lacks it, and was requested so long
 * after the leader's first position on its own timeline that no node returns an older one any more.
 */
function isSkipped(cluster: ClusterState, timeline: number): boolean {
  const { position, switchPoints, statedOn, documents } = cluster;
  if (switchPoints === null || switchPoints.size === 0 || switchPoints.has(timeline)) return false;
  if (statedOn === null || statedOn.timeline !== position?.timeline || documents.history === null) return false;
  return documents.history.sentAtMs >= statedOn.sinceMs + loopWaitMs(cluster) + retryTimeoutMs(cluster);
}
