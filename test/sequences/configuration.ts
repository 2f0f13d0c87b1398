import { exporterAt } from "../../proof/campaign/sim/exporter-connection.ts";
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

function nodeOf(sequence: Sequence, node: string, addresses: ReadonlyMap<string, string>): unknown {
  const { called, anonymous, exporters } = sequence;
  const member = called !== undefined && anonymous !== true ? { member: node } : {};
  const api = addresses.get(node) ?? "";
  return { name: called?.[node] ?? node, api, ...member, ...(exporters === true ? { exporter: exporterAt(api) } : {}) };
}
