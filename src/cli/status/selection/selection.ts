import { isProblem, isServing } from "../../../core/health/conditions/cluster-condition.ts";
import type { StatusCluster } from "../../../core/command/client/cluster-status.ts";
import type { Arguments } from "../../../core/command/framework/arguments.ts";
import type { ShownCluster } from "./shown-cluster.ts";
import { sortClusters, statusOrders, type StatusOrder } from "./sorting.ts";

/** What to show of a status, and in which order. */
export interface StatusSelection {
  readonly order: StatusOrder;
  /** Leaves out what is well. */
  readonly problemsOnly: boolean;
  /** Keeps the clusters and nodes whose name contains this text, in either case; empty keeps all. */
  readonly query: string;
}

/** What a command line selects: `--problems` and `--sort`. */
export function selectionOf(args: Arguments): StatusSelection {
  const order = statusOrders.find((known) => known === args.text("sort")) ?? "problem";
  return { order, problemsOnly: args.has("problems"), query: "" };
}

/** Selects and sorts the clusters to show, and the nodes of each. */
export function selectClusters(
  clusters: readonly StatusCluster[],
  { order, problemsOnly, query }: StatusSelection,
): readonly ShownCluster[] {
  const shown = clusters
    .map((cluster): ShownCluster => ({
      cluster,
      fitNodes: cluster.nodes.filter(isServing).length,
      nodes: cluster.nodes,
    }))
    .filter(({ cluster }) => !problemsOnly || hasProblem(cluster))
    .map((row) => (problemsOnly ? withProblemsOnly(row) : row))
    .flatMap((row) => matching(row, query.toLowerCase()));
  return sortClusters(shown, order);
}

/** Whether a cluster, or where its clients are sent, needs the attention of an operator. */
export function hasProblem({ situation, routes = [] }: StatusCluster): boolean {
  return isProblem(situation.condition) || routes.length > 0;
}

/** Keeps the nodes with a problem. A cluster that is down as a whole keeps all: each of them may be the cause. */
function withProblemsOnly(row: ShownCluster): ShownCluster {
  const { condition } = row.cluster.situation;
  return condition === "degraded" || condition === "warning" || condition === "ok"
    ? { ...row, nodes: row.nodes.filter((node) => isProblem(node.condition)) }
    : row;
}

function matching(row: ShownCluster, query: string): readonly ShownCluster[] {
  if (row.cluster.cluster.toLowerCase().includes(query)) return [row];
  const nodes = row.nodes.filter(({ node }) => node.toLowerCase().includes(query));
  return nodes.length === 0 ? [] : [{ ...row, nodes }];
}
