import { nodeNamed, nodeOfMember } from "../../cluster/lookup.ts";
import { isDcsOverdue } from "../../health/conditions/dcs.ts";
import { scheduledSwitchover } from "../../health/evidence/node/plans.ts";
import { type ClusterFacts, isAnswering } from "../../health/conditions/cluster-facts.ts";

/** How long before or after its announcement a change of the primary may be seen, in ms. */
const nearMs = 60_000;

/**
 * Whether somebody announced that the last primary would no longer be the primary: a call for a switchover or failover,
 * a switchover that the cluster document has for this time, the DCS, or the primary itself, which stops. A leader key
 * that has gone while the last primary answers was removed by it. A primary that stops and has not reached the
 * DCS in its last loop was not asked to.
 * @param last the name of the last primary
 * @param calledAtMs when a call was last forwarded, in ms of rolecall's clock
 */
export function isAnnounced({ view, nowMs }: ClusterFacts, last: string | null, calledAtMs: number): boolean {
  const { cluster } = view;
  const known = nodeNamed(cluster, last);
  if (nowMs - calledAtMs <= nearMs) return true;
  if (known === undefined) return false;
  // By the clock of this machine: nodes state the time of day.
  const nowWallMs = known.sentAtWallMs + nowMs - known.sentAtMs;
  const plannedMs = Date.parse(scheduledSwitchover(cluster.documents.cluster)?.at ?? "");
  if (Math.abs(nowWallMs - plannedMs) <= nearMs) return true;
  const isThere = isAnswering(known);
  const { isUp, distrust, read } = cluster.dcs ?? {};
  if (isUp && distrust === null && read && nowMs - read.sentAtMs <= nearMs) {
    const named = read.leader === null ? null : nodeOfMember(cluster, read.leader);
    if (named === null ? isThere : named !== undefined && named !== known) return true;
  }
  return isThere && known.report?.state === "stopping" && !isDcsOverdue(view, known);
}
