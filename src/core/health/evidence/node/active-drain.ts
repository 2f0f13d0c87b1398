import type { Drain } from "../../../cluster/drain.ts";
import type { ClusterState } from "../../../cluster/snapshot.ts";

/** Returns the node's drain unless it has expired, else `null`. @param nowMs in ms of rolecall's clock */
export function activeDrainOf(cluster: ClusterState, node: string, nowMs: number): Drain | null {
  const drain = cluster.drains.get(node);
  return drain !== undefined && nowMs < drain.untilMs ? drain : null;
}

/** Whether an operator distrusts the node: then nothing that it states is evidence. @param nowMs as `activeDrainOf` */
export function isDistrusted(cluster: ClusterState, node: string, nowMs: number): boolean {
  return cluster.drains.size > 0 && activeDrainOf(cluster, node, nowMs)?.extent === "distrust";
}
