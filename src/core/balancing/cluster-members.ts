import type { DatabaseAddress } from "../cluster/node.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import { mayLackMembers } from "../health/evidence/node/listed-members.ts";
import { isUnlisted } from "../health/evidence/node/unlisted.ts";
import type { HealthPolicy } from "../health/health-policy.ts";

/** A member of a cluster, for a balancer that has a server for each of them. */
export interface ClusterMember {
  readonly node: string;
  /** Where clients connect to; `null`: not known. */
  readonly database: DatabaseAddress | null;
  /** Whether the node itself has answered. A member list can name nodes that do not exist. */
  readonly isProved: boolean;
}

/** The members of a cluster at one instant. */
export interface ClusterMembers {
  /** Whether these are all: until a list was read, and while a list may lack members, some may be missing here. */
  readonly isComplete: boolean;
  readonly members: readonly ClusterMember[];
}

/** The members of a cluster, without nodes that are down and that no member list names any more. Pure. */
export function clusterMembers(cluster: ClusterState | undefined, policy: HealthPolicy | undefined): ClusterMembers {
  if (cluster === undefined || policy === undefined) return { isComplete: false, members: [] };
  const listed = cluster.nodes.filter((observation) => !isUnlisted({ cluster, policy }, observation));
  return {
    isComplete: !mayLackMembers(cluster),
    members: listed.map(({ node, proof, report }) => ({
      node: node.name,
      database: node.database,
      isProved: proof !== "none" && report !== null,
    })),
  };
}
