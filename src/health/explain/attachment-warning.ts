import type { Observation } from "../../cluster/observation.ts";
import { isExempt } from "../evidence/attachment.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";

/**
 * What counts against a node's attachment, in words for people, also before it refuses (design.md, rule 5).
 * @returns `null` where its last report gave a sign, or the rule does not apply to it
 */
export function attachmentWarning({ policy }: Pick<ClusterView, "policy">, observation: Observation): string | null {
  if (!policy.guards.attachedReplica || isExempt(observation)) return null;
  const { isDetached, isStalled, silentMs, listedMs } = observation.attachment;
  if (silentMs > 0 || isDetached) return `in no sender list, not caught up${notMoved(silentMs + listedMs)}`;
  if (listedMs > 0 || isStalled) return `listed by its sender, but has not moved${forSpan(listedMs)}`;
  return null;
}

function notMoved(ms: number): string {
  return `, not moved${forSpan(ms)}`;
}

/** An accusation of an earlier run says nothing of how long. */
function forSpan(ms: number): string {
  return ms === 0 ? "" : ` for ${Math.round(ms / 1000)} s`;
}
