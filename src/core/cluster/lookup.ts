import type { Observation } from "./observation.ts";
import type { ClusterState, Snapshot } from "./snapshot.ts";

/** Returns the cluster of this name; `undefined` if there is none, or if the name is `null`. */
export function clusterNamed(
  snapshot: Pick<Snapshot, "clusters" | "index">,
  name: string | null,
): ClusterState | undefined {
  const at = name === null ? undefined : snapshot.index.get(name);
  return at === undefined ? undefined : snapshot.clusters[at];
}

/** Returns the observation of a member: the node with this member name, else the node of this name. */
export function nodeOfMember(cluster: Pick<ClusterState, "nodes" | "index">, member: string): Observation | undefined {
  return cluster.nodes.find(({ node }) => node.member === member) ?? nodeNamed(cluster, member);
}

/** Returns the observation of the node of this name; `undefined` if there is none, or if the name is `null`. */
export function nodeNamed(
  cluster: Pick<ClusterState, "nodes" | "index">,
  name: string | null,
): Observation | undefined {
  const at = name === null ? undefined : cluster.index.get(name);
  return at === undefined ? undefined : cluster.nodes[at];
}

/** Returns what has names by these names; of several with one name the last counts. */
export function indexedByName<Named extends { readonly name: string }>(
  all: readonly Named[],
): ReadonlyMap<string, Named> {
  return new Map(all.map((one) => [one.name, one]));
}
