import { nodeNamed, nodeOfMember } from "../../cluster/lookup.ts";
import { parseInstant } from "../../cluster/values/timestamp.ts";
import { scheduledSwitchover } from "../../health/documents/plans.ts";
import { type ClusterFacts, isAnswering } from "./cluster-facts.ts";

/** How long before or after its announcement a change of the primary may be seen, in ms. */
const nearMs = 60_000;

/**
 * Who announced that a cluster's primary changes:
 *
 * - `call`: a switchover or failover that was forwarded
 * - `schedule`: the cluster document has a switchover for this time
 * - `dcs`: the leader key names another node, or it has gone while the last primary answers, which then removed it
 * - `stop`: the last primary says that it stops
 */
export type Announcement = "call" | "schedule" | "dcs" | "stop";

/**
 * Returns who announced that the last primary would no longer be the primary. `null`: nobody, as when it fails.
 * @param known the last primary, and when a call that changes it was forwarded, in ms of rolecall's clock
 */
export function announcementOf(
  { last, calledAtMs }: { readonly last: { readonly node: string } | null; readonly calledAtMs: number },
  facts: ClusterFacts,
): Announcement | null {
  const { cluster } = facts.view;
  if (facts.nowMs - calledAtMs <= nearMs) return "call";
  if (isScheduledNow(facts)) return "schedule";
  const known = nodeNamed(cluster, last?.node ?? null);
  if (known === undefined) return null;
  const { dcs } = cluster;
  const read = dcs !== null && dcs.isUp && dcs.distrust === null ? dcs.read : null;
  if (read !== null && facts.nowMs - read.sentAtMs <= nearMs) {
    const named = read.leader === null ? null : nodeOfMember(cluster, read.leader);
    if (named === null ? isAnswering(known) : named !== undefined && named !== known) return "dcs";
  }
  return isAnswering(known) && known.report?.state === "stopping" ? "stop" : null;
}

/** Whether the cluster document has a switchover for the present time, by the clock of rolecall's machine. */
function isScheduledNow({ nowMs, nodes, view }: ClusterFacts): boolean {
  const planned = parseInstant(scheduledSwitchover(view.cluster.documents.cluster)?.at ?? "");
  const seen = nodes.find(({ observation }) => observation.sentAtMs > -Infinity)?.observation;
  if (planned === undefined || seen === undefined) return false;
  const nowWallMs = seen.sentAtWallMs + nowMs - seen.sentAtMs;
  return Math.abs(nowWallMs - planned.atMs) <= nearMs;
}
