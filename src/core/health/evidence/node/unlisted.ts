import type { Observation } from "../../../cluster/observation.ts";
import { mayLackMembers, type ListedMembers } from "./listed-members.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/** Whether a discovered member is down, and no member list names it any more: none of them may lack it (rule 10). */
export function isUnlisted(
  { cluster, policy }: { readonly cluster: ListedMembers; readonly policy: Pick<HealthPolicy, "discovers"> },
  { node, isDown, listedAtMs }: Observation,
): boolean {
  if (!isDown || node.isFixed || !policy.discovers || mayLackMembers(cluster)) return false;
  return cluster.nodes.some((other) => other.listedAtMs > listedAtMs);
}
