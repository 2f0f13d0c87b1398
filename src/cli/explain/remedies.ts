import { type ConditionReason, remediesOfConditions } from "../../core/health/conditions/conditions.ts";
import type { Reason } from "../../core/health/reason.ts";

/**
 * One sentence for each reason that no condition gives: what must change so that a node with this reason becomes fit. A
 * condition has that of its own. See docs/reasons.md.
 */
const remedies: { readonly [reason in Exclude<Reason, ConditionReason>]: string } = {
  foreign: "it must belong to this cluster: check its address, scope and system identifier",
  misaddressed: "its address must lead to the node of this name: correct the address",
  moved: "the load balancer must use the address of its database: update the server there",
  wrong_role: "it must have the role that the check asks for",
  tag: "its tags must have the values that the check asks for",
  noloadbalance: "its tag noloadbalance must be removed",
  not_sync: "it must be a synchronous standby",
  not_quorum: "it must be a quorum standby",
  not_async: "it must be an asynchronous standby",
  replication_state: "its replication state must be the one that the check asks for",
  min_lsn: "it must replay up to the position that the check asks for",
  held_back: "the time of handover_hold must pass after the change of leader",
  other_zone: "no node of the check's zone may be fit: it takes sessions only then",
  none_fit: "at least one node must be fit",
  no_manager: "it needs a cluster manager: a database exporter alone cannot answer this route",
};

const byText: ReadonlyMap<string, string> = new Map([...remediesOfConditions, ...Object.entries(remedies)]);

/** Returns what would make a node fit; `null` for a reason that this version does not know. */
export function remedyOf(reason: string): string | null {
  return byText.get(reason) ?? null;
}
