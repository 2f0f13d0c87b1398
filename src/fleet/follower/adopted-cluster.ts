import type { StatusOutcome } from "../../cluster/outcome.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { ClusterConfig, ProbeConfig } from "../../config/model/config.ts";
import { withNodes } from "../../health/observe/membership.ts";
import { buildClusters } from "../../state/clusters.ts";

/** Whether nothing is known of a cluster: no server of it has answered. */
export function isUnheard({ nodes, contacts }: ClusterState): boolean {
  return nodes.every(({ report }) => report === null) && [...contacts.values()].every(({ answer }) => answer === null);
}

/**
 * The owner's state of a cluster as that of a follower that knows nothing of it. What the configuration says of nodes
 * is the follower's own.
 */
export function adoptedCluster(
  owners: ClusterState,
  { config, probe }: { readonly config: ClusterConfig; readonly probe: ProbeConfig },
): ClusterState {
  const [built] = buildClusters({ clusters: [config], probe }, new Map([[config.name, owners]]));
  // What the newest list omits is forgotten in a reload only.
  return built === undefined ? owners : withOwnersMembers(built.cluster, owners);
}

/** A cluster that is known here, with the members that only the owner knows. The same state if there are none. */
export function withOwnersMembers(cluster: ClusterState, owners: ClusterState): ClusterState {
  const addresses = new Set(cluster.nodes.flatMap(({ node }) => node.api ?? []));
  const added = owners.nodes.filter(
    ({ node }) => !cluster.index.has(node.name) && (node.api === null || !addresses.has(node.api)),
  );
  return added.length === 0 ? cluster : withNodes(cluster, [...cluster.nodes, ...added]);
}

/** The last answers of the nodes in the owner's state, as outcomes. */
export function answersIn({ name, nodes }: ClusterState): readonly StatusOutcome[] {
  return nodes.flatMap(({ node, report, hasLock, sentAtMs, sentAtWallMs }): readonly StatusOutcome[] =>
    report === null || node.api === null
      ? []
      : [{ kind: "status", cluster: name, node: node.name, sentAtMs, sentAtWallMs, result: { report, hasLock } }],
  );
}
