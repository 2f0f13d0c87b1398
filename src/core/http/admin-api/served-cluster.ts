import { errorReply, type Reply } from "../message/reply.ts";
import type { ListenerScope } from "../node-api/target-node.ts";

/** Whether a listener serves a cluster. */
export function isServed({ cluster, clusters }: ListenerScope, name: string): boolean {
  return cluster === null ? clusters.includes(name) : cluster === name;
}

/** The answer for a cluster that the listener does not serve. */
export function unknownCluster(cluster: string): Reply {
  return errorReply(404, "unknown_cluster", {
    message: `Cannot find cluster ${JSON.stringify(cluster.slice(0, 200))}: this listener does not serve it`,
  });
}
