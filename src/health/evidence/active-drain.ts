import type { Drain } from "../../cluster/drain.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

/** Returns the node's drain unless it has expired, else `null`. @param nowMs in ms of rolecall's clock */
export function activeDrainOf(cluster: ClusterState, node: string, nowMs: number): Drain | null {
  const drain = cluster.drains.get(node);
  return drain !== undefined && nowMs < drain.untilMs ? drain : null;
}
