import type { Drain } from "../../cluster/drain.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";

/** The node's drain, if it has one that has not ended. @param nowMs ms of our clock */
export function drainOf(cluster: ClusterState, node: string, nowMs: number): Drain | null {
  const drain = cluster.drains.get(node);
  return drain !== undefined && nowMs < drain.untilMs ? drain : null;
}
