import type { StatusCluster, StatusNode } from "../../core/command/client/cluster-status.ts";
import { shellWord } from "../../core/command/client/next-command.ts";

/** The command that explains why a node is unfit for its role. @param source see `sourceWords` */
export function explainNodeCommand(cluster: StatusCluster, node: StatusNode, source: readonly string[]): string {
  const route = dutyRoute(cluster, node);
  return ["rolecall explain", route, "--node", shellWord(`${cluster.cluster}/${node.node}`), ...source].join(" ");
}

/** The command that explains why no node of a cluster is fit for writes. @param source see `sourceWords` */
export function explainClusterCommand(cluster: StatusCluster, source: readonly string[]): string {
  return ["rolecall explain /primary --cluster", shellWord(cluster.cluster), ...source].join(" ");
}

/** The check that says most about a node: one of balancers that refuses it, else the route of its role. */
export function tellingCheck(cluster: StatusCluster, node: StatusNode): string {
  const [refused] = node.reason === null ? node.refused : [];
  return refused?.check ?? dutyRoute(cluster, node);
}

/** The route that the node should serve: writes for the holder of the lock and a former primary, else reads. */
function dutyRoute({ leader }: StatusCluster, { node, role, was }: StatusNode): string {
  const last = was ?? role;
  if (last === "standby_leader") return "/standby-leader";
  return node === leader || last === "primary" ? "/primary" : "/replica";
}
