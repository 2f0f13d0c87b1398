import { CommandError } from "../framework/command-error.ts";
import { suggest } from "../../cluster/values/did-you-mean.ts";
import type { ClusterStatus, StatusCluster } from "./status-types.ts";

/** A node of a cluster, or with `node: null` the whole cluster. */
export interface NamedNode {
  readonly cluster: string;
  readonly node: string | null;
}

/** A cluster and a node as given on the command line; `null` if not given. */
export interface GivenName {
  readonly cluster: string | null;
  readonly node: string | null;
}

/** Splits `demo/pg2` into cluster and node. A name without a slash is the name of a node. */
export function splitName(text: string): { readonly cluster: string | null; readonly node: string } {
  const cut = text.lastIndexOf("/");
  return { cluster: cut < 0 ? null : text.slice(0, cut), node: text.slice(cut + 1) };
}

/**
 * Finds the node or cluster with the given name. A node that is given without its cluster must exist in only one
 * cluster.
 * @throws CommandError (RC001) with the possible names, if there is no such node or cluster or more than one
 */
export function resolveName({ clusters }: ClusterStatus, given: GivenName): NamedNode {
  const { cluster, node } = splitGivenName(given);
  const names = clusters.map((candidate) => candidate.cluster);
  if (cluster !== null && !names.includes(cluster)) throw unknownNameError("The cluster", names, cluster);
  const candidates = clusters.filter(
    (candidate) => (cluster === null || candidate.cluster === cluster) && (node === null || hasNode(candidate, node)),
  );
  const [only, ...others] = candidates;
  if (only !== undefined && others.length === 0) return { cluster: only.cluster, node };
  if (only === undefined) {
    const known = clusters.flatMap(({ cluster: name, nodes }) => nodes.map((row) => `${name}/${row.node}`));
    throw unknownNameError("The node", known, node ?? "");
  }
  throw new CommandError(
    "RC001",
    `--cluster must be one of ${candidates.map((candidate) => candidate.cluster).join(", ")}, got nothing` +
      (node === null ? "" : ` (or name the node as ${only.cluster}/${node})`),
  );
}

/** How many names an error lists. */
const namesMax = 20;

/**
 * The error for a name that is none of the known ones: it lists them, and names the one that was likely meant.
 * @param subject what must be one of them: `The cluster`, `--cluster`
 * @param known the names; nodes as `demo/pg2`, of which the part after the slash may be given alone
 */
export function unknownNameError(subject: string, known: readonly string[], got: string): CommandError {
  const more = known.length > namesMax ? ` and ${known.length - namesMax} more` : "";
  const near = suggest(got, [...known, ...known.map((name) => splitName(name).node)]);
  return new CommandError(
    "RC001",
    `${subject} must be one of ${known.slice(0, namesMax).join(", ")}${more}, got ${JSON.stringify(got)}` +
      (near === null ? "" : `: did you mean ${near}?`),
  );
}

/**
 * Separates cluster and node, if the node was given as `demo/pg2`.
 * @throws CommandError (RC001) if `--cluster` names another cluster than the name of the node
 */
export function splitGivenName({ cluster, node }: GivenName): GivenName {
  if (node === null) return { cluster, node };
  const split = splitName(node);
  if (cluster !== null && split.cluster !== null && cluster !== split.cluster)
    throw new CommandError(
      "RC001",
      `--cluster must match the name of the node, ${split.cluster}/${split.node}, got ${JSON.stringify(cluster)}`,
    );
  return { cluster: cluster ?? split.cluster, node: split.node };
}

function hasNode({ nodes }: StatusCluster, name: string): boolean {
  return nodes.some(({ node }) => node === name);
}
