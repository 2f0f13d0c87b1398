import type { Sequence } from "./format.ts";
import type { World } from "./world.ts";

/** The configuration for the clusters of sequences, with one health listener for all of them. */
export function configurationWith(clusters: readonly unknown[], port: number): Readonly<Record<string, unknown>> {
  return {
    clusters,
    listen: [{ port, cluster: "*" }],
    host_suffixes: [".db.internal"],
    log: { level: "warn" },
  };
}

/** The cluster of a sequence in the configuration. */
export function clusterOf(sequence: Sequence, { addresses }: World): unknown {
  const { name, nodes, discover, guards } = sequence;
  const of =
    discover === true
      ? { discover: nodes.map((node) => addresses.get(node)) }
      : { nodes: nodes.map((node) => nodeOf(sequence, node, addresses)) };
  return { name, ...of, ...(guards === undefined ? {} : { guards }) };
}

function nodeOf({ called, anonymous }: Sequence, node: string, addresses: ReadonlyMap<string, string>): unknown {
  const member = called !== undefined && anonymous !== true ? { member: node } : {};
  return { name: called?.[node] ?? node, api: addresses.get(node), ...member };
}
