import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { hasNothingToReceive, isExempt } from "../evidence/attachment/attachment.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { walReached } from "../evidence/node/report-position.ts";
import { isPastLeader } from "../evidence/position/past-leader.ts";
import { isListedStreaming } from "../evidence/leadership/sender-chain.ts";
import { isReadyWhileRunning } from "../rules/attached.ts";
import { isForReplicas, passesAsLeader, rulesFor } from "../rules/route-rules.ts";

/**
 * Whether somebody who has watched a node for a short time can say that it is attached. `not needed`: the check does
 * not depend on it.
 */
export type AttachmentKnowledge = "known" | "not known" | "not needed";

/**
 * Says whether a node that is fit has been watched for long enough. Rule 5 counts the time without a sign, so a node
 * that was seen once passes it. A sign is proof: the node has advanced, or has nothing to receive. A listing by its
 * sender is none: a frozen or cut off receiver stays listed for a minute.
 * @param firstWalPosition the WAL position in its first report of this watch; `null` if it had none
 */
export function attachmentKnowledge(
  view: ClusterView,
  { observation, check }: { readonly observation: Observation; readonly check: Check },
  firstWalPosition: number | null,
): AttachmentKnowledge {
  const { report } = observation;
  const isArchiveAsked = check.replicationState === "in archive recovery";
  const { route } = check;
  if (report === null || !view.policy.guards.attachedReplica || route === "liveness" || !isForReplicas(route))
    return "not needed";
  if (isExempt(observation) || isArchiveAsked) return "not needed";
  if (passesAsLeader(rulesFor(route, observation.node, check), { view, observation, report, check }))
    return "not needed";
  if (route === "readiness" && isReadyWhileRunning(report)) return "not needed";
  const reached = walReached(report);
  const hasMoved = reached !== null && firstWalPosition !== null && reached > firstWalPosition;
  const isStreaming = (): boolean => isListedStreaming(view, observation.node.name);
  const isPast = (): boolean => isPastLeader(view.cluster, observation);
  return hasMoved || hasNothingToReceive(view, { report, isPast, isStreaming }) ? "known" : "not known";
}
