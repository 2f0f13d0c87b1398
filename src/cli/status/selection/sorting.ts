import type { StatusNode } from "../../../core/command/client/cluster-status.ts";
import { clusterSeverity, nodeSeverity } from "./condition.ts";
import type { ShownCluster } from "./shown-cluster.ts";

/** The orders of clusters and nodes, in the order in which `--watch` offers them. */
export const statusOrders = ["problem", "name", "lag", "age"] as const;
export type StatusOrder = (typeof statusOrders)[number];

/**
 * Sorts the clusters, and the nodes of each.
 * @param order `problem`: the worst cluster first; in it the leader, then the worst node. `name`: by name. `lag` and
 *   `age`: the highest first; unknown counts as the highest. Equal ones are in the order of their names.
 */
export function sortClusters(rows: readonly ShownCluster[], order: StatusOrder): readonly ShownCluster[] {
  return sortedBy(rows, (row) => [clusterRank(row, order), row.cluster.cluster]).map((row) => ({
    ...row,
    nodes: sortedBy(row.nodes, (node) => [nodeRank(node, row.cluster.leader, order), node.node]),
  }));
}

/** Sorts by several figures, the highest first, then by name, in which numbers count as numbers (pg2 before pg10). */
function sortedBy<T>(rows: readonly T[], keyOf: (row: T) => readonly [readonly number[], string]): readonly T[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  keyed.sort(({ key: [ranks, name] }, { key: [otherRanks, otherName] }) => {
    const at = ranks.findIndex((rank, index) => rank !== otherRanks[index]);
    return at < 0 ? byName.compare(name, otherName) : (otherRanks[at] ?? 0) > (ranks[at] ?? 0) ? 1 : -1;
  });
  return keyed.map(({ row }) => row);
}

const byName = new Intl.Collator("en", { numeric: true });

function nodeRank(node: StatusNode, leader: string | null, order: StatusOrder): readonly number[] {
  switch (order) {
    case "name":
      return [];
    case "lag":
      return [lagOf(node)];
    case "age":
      return [ageOf(node)];
    case "problem":
      return [node.node === leader ? 1 : 0, nodeSeverity(node.condition), node.sync_role === null ? 0 : 1];
  }
}

function clusterRank({ cluster, nodes }: ShownCluster, order: StatusOrder): readonly number[] {
  switch (order) {
    case "name":
      return [];
    case "lag":
      return [Math.max(-1, ...nodes.map(lagOf))];
    case "age":
      return [Math.max(-1, ...nodes.map(ageOf))];
    case "problem":
      return [
        clusterSeverity(cluster.situation.condition),
        nodes.filter(({ condition }) => condition === "unfit").length,
      ];
  }
}

function lagOf({ lag_bytes: lag }: StatusNode): number {
  return lag ?? Infinity;
}

function ageOf({ age_ms: age }: StatusNode): number {
  return age ?? Infinity;
}
