import { CommandError } from "../framework/command.ts";
import type { ClusterStatus, StatusCluster } from "./cluster-status.ts";

/** A node, or with `null` a whole cluster, as the command line names it. */
export interface NamedNode {
  readonly cluster: string;
  readonly node: string | null;
}

/** Splits `demo/pg2`; what has no slash names a node only. */
export function splitName(text: string): { readonly cluster: string | null; readonly node: string } {
  const cut = text.lastIndexOf("/");
  return { cluster: cut < 0 ? null : text.slice(0, cut), node: text.slice(cut + 1) };
}

/**
 * Finds what a name means among the clusters seen: a node without its cluster must be in one only.
 * @throws Stop (RC001) that names what there is
 */
export function resolveName(
  { clusters }: ClusterStatus,
  said: { readonly cluster: string | null; readonly node: string | null },
): NamedNode {
  const { cluster, node } = said.node === null ? said : withCluster(said.cluster, said.node);
  const names = clusters.map((one) => one.cluster);
  if (cluster !== null && !names.includes(cluster))
    throw new CommandError("RC001", `the cluster must be one of ${names.join(", ")}: it is ${JSON.stringify(cluster)}`);
  const candidates = clusters.filter(
    (one) => (cluster === null || one.cluster === cluster) && (node === null || has(one, node)),
  );
  const [only, ...others] = candidates;
  if (only !== undefined && others.length === 0) return { cluster: only.cluster, node };
  if (only === undefined) {
    const known = clusters.flatMap((one) => one.nodes.map((each) => `${one.cluster}/${each.node}`));
    throw new CommandError("RC001", `the node must be one of ${known.join(", ")}: it is ${JSON.stringify(node)}`);
  }
  throw new CommandError(
    "RC001",
    `a cluster must be named, for there are ${candidates.map((one) => one.cluster).join(", ")}: say --cluster NAME${node === null ? "" : ` or ${only.cluster}/${node}`}`,
  );
}

function withCluster(cluster: string | null, text: string): { readonly cluster: string | null; readonly node: string } {
  const split = splitName(text);
  if (cluster !== null && split.cluster !== null && cluster !== split.cluster)
    throw new CommandError("RC001", `--cluster says ${cluster}, the node's name says ${split.cluster}`);
  return { cluster: cluster ?? split.cluster, node: split.node };
}

function has({ nodes }: StatusCluster, name: string): boolean {
  return nodes.some(({ node }) => node === name);
}
