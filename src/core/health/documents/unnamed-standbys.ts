import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { nodeOfSender } from "../evidence/node/sender-rows.ts";

/** Replicas that no sender list has named, and the streams that may be theirs. */
export interface UnnamedStandbys {
  readonly nodes: readonly string[];
  /** The rows that are no node's: `walreceiver (10.0.0.9)`. */
  readonly seen: readonly string[];
}

/**
 * Finds the replicas of which nobody can say whether they stream (rule 5): they are known by their exporters alone and
 * state no position, no list has named them, and somebody streams whose name is no node's.
 * @returns `null` if there are none
 */
export function unnamedStandbys(cluster: ClusterState): UnnamedStandbys | null {
  const nodes = cluster.nodes.filter(isUnnamed).map(({ node }) => node.name);
  const rows = cluster.nodes.flatMap(({ report }) => report?.senders ?? []);
  const seen = rows
    .filter((row) => row.state === "streaming" && nodeOfSender(cluster, row) === null)
    .map(({ name, address }) => (address === null ? name : `${name} (${address})`));
  return nodes.length === 0 || seen.length === 0 ? null : { nodes, seen: [...new Set(seen)] };
}

function isUnnamed({ node, isNamed, report, exporter }: Observation): boolean {
  const page = exporter?.page ?? null;
  const statesPosition = page !== null && (page.received !== null || page.replayed !== null);
  return node.api === null && !isNamed && report?.role === "replica" && !statesPosition;
}
