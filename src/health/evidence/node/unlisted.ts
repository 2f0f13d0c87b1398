import type { Observation } from "../../../cluster/observation.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/** Whether a discovered member is down, and no member list names it any more (rule 10). */
export function isUnlisted(
  {
    cluster,
    policy,
  }: { readonly cluster: Pick<ClusterState, "nodes">; readonly policy: Pick<HealthPolicy, "discovers"> },
  { node, isDown, listedAtMs }: Observation,
): boolean {
  if (!isDown || node.isFixed || !policy.discovers) return false;
  return cluster.nodes.some((other) => other.listedAtMs > listedAtMs);
}
