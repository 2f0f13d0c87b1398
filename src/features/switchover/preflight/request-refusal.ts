import type { ClusterView } from "../../../core/health/evidence/leadership/cluster-view.ts";
import { checkCall } from "../../../core/health/calls/check-call.ts";
import type { Refusal } from "../../../core/health/calls/refusal.ts";
import { selectTarget } from "../../../core/health/calls/target-selection.ts";

/**
 * Why the gateway would refuse the request for a switchover by the evidence; `null` if it would send it.
 * @param leader the member name of the leader
 * @param candidate the member name of the node that should lead; `null`: the cluster elects one
 */
export function requestRefusal(view: ClusterView, leader: string, candidate: string | null): Refusal | null {
  const call = { name: "switchover", method: "POST", cluster: view.cluster.name, node: null, isDryRun: true } as const;
  const target = selectTarget(view, call);
  if ("error" in target) return target;
  const body = Buffer.from(JSON.stringify(candidate === null ? { leader } : { leader, candidate }));
  // The wall time matters only for scheduled ones.
  return checkCall({ call, body, view, target, wallMs: 0 });
}
