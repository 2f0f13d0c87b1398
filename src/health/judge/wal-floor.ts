import { formatLsn } from "../../cluster/values/lsn.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { Check, WalFloor } from "../check.ts";
import { timelineOf } from "../evidence/measure.ts";
import { sharedUpTo } from "../evidence/shared-history.ts";
import type { ClusterView, ReportedNode } from "../evidence/cluster-view.ts";
import { fit, unfit, type Verdict } from "../verdict.ts";

/**
 * Judges whether a replica has replayed what the check's `min_lsn` names (docs/checks.md, "Read your own writes").
 * @returns fit where the check has no `min_lsn`, else `min_lsn` with the position that the node has replayed
 */
export function judgeFloor({ cluster }: ClusterView, reported: ReportedNode, { minLsn }: Check): Verdict {
  if (minLsn === null) return fit;
  const { replayed } = reported.report;
  if (replayed !== null && replayed >= minLsn.position && isInHistory(cluster, reported, minLsn)) return fit;
  return refuse(reported, minLsn, replayed);
}

/**
 * The same for a node that passes as the leader. A bare position never refuses it. With its timeline, the write has to
 * be in the leader's history: a failover may have lost it. A primary need not report a position of its own timeline: it
 * may have written it after its last report.
 */
export function judgeLeaderFloor(view: ClusterView, reported: ReportedNode, check: Check): Verdict {
  const { minLsn } = check;
  if (minLsn === null || minLsn.timeline === null) return fit;
  const { role, location } = reported.report;
  if (role !== "primary") return judgeFloor(view, reported, check);
  return isInHistory(view.cluster, reported, minLsn) ? fit : refuse(reported, minLsn, location);
}

/**
 * Whether the node's history contains what was written at a position of a timeline: the timeline has to be the node's
 * own, or one that its history left no earlier than there. After a failover that lost writes the new timeline grows
 * past positions that it never had.
 */
function isInHistory(cluster: ClusterState, { observation }: ReportedNode, floor: WalFloor): boolean {
  if (floor.timeline === null) return true;
  const timeline = timelineOf(observation);
  if (timeline === null || floor.timeline >= timeline) return floor.timeline === timeline;
  return floor.position <= (sharedUpTo(cluster, floor.timeline) ?? -1);
}

function refuse({ observation }: ReportedNode, floor: WalFloor, reached: number | null): Verdict {
  if (reached === null) return unfit("min_lsn");
  const position = formatLsn(reached);
  return unfit("min_lsn", floor.timeline === null ? position : `${timelineOf(observation) ?? "?"}@${position}`);
}
