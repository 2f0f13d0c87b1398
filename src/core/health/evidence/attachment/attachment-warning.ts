import type { Observation } from "../../../cluster/observation.ts";
import { isExempt } from "./attachment.ts";
import type { ClusterView } from "../leadership/cluster-view.ts";

/**
 * Describes what counts against a node's attachment, also before it refuses (rule 5).
 * @returns `null` if its last report gave a sign, or the rule does not apply
 */
export function attachmentWarning({ policy }: Pick<ClusterView, "policy">, observation: Observation): string | null {
  if (!policy.guards.attachedReplica || isExempt(observation)) return null;
  const { isDetached, isStalled, silentMs, listedMs } = observation.attachment;
  if (silentMs > 0 || isDetached) return `streams from no node, not caught up${notAdvanced(silentMs + listedMs)}`;
  if (listedMs > 0 || isStalled) return `listed by its sender, but has not advanced${forDuration(listedMs)}`;
  return null;
}

function notAdvanced(ms: number): string {
  return `, not advanced${forDuration(ms)}`;
}

/** The duration is unknown (0) for a mark (detached, stalled) that an earlier run saved. */
function forDuration(ms: number): string {
  return ms === 0 ? "" : ` for ${Math.round(ms / 1000)} s`;
}
