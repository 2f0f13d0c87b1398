import { countedCondition, isServing } from "../../../core/health/conditions/cluster-condition.ts";
import type { StatusCluster, StatusNode } from "../../../core/command/client/cluster-status.ts";
import { formatDuration } from "../../../core/command/output/figures.ts";
import { clusterSeverity } from "./condition.ts";

/** How many clusters and nodes are well: the figures above the table. */
export interface StatusSummary {
  readonly clusters: number;
  /** The number of clusters in each condition that occurs, best condition first. */
  readonly conditions: { readonly [condition: string]: number };
  readonly nodes: number;
  readonly fit_nodes: number;
  /** Nodes that are fit so far, but were not watched for long enough to know that they are attached. */
  readonly not_known_nodes: number;
  /** The age of the oldest report behind a fit node, in ms; `null` if no node is fit. */
  readonly oldest_evidence_ms: number | null;
}

/** Counts the clusters by condition, and the nodes that are fit for their role. */
export function summarizeStatus(clusters: readonly StatusCluster[]): StatusSummary {
  const conditions = clusters.map(({ situation }) => situation.condition);
  const kinds = [...new Set(conditions)].toSorted((one, other) => clusterSeverity(one) - clusterSeverity(other));
  const counts = kinds.map((kind) => [kind, conditions.filter((one) => one === kind).length] as const);
  const nodes = clusters.flatMap((cluster) => cluster.nodes);
  const fitSoFar = nodes.filter(isServing);
  const fit = fitSoFar.filter(({ attachment }) => attachment !== "not known");
  return {
    clusters: clusters.length,
    conditions: Object.fromEntries(counts),
    nodes: nodes.length,
    fit_nodes: fit.length,
    not_known_nodes: fitSoFar.length - fit.length,
    oldest_evidence_ms: oldestAge(fitSoFar),
  };
}

/** Renders the figures: `40 clusters: 37 ok, 3 degraded; 118 of 120 nodes fit, on evidence up to 1.2 s old`. */
export function summaryLine({
  clusters,
  conditions,
  nodes,
  fit_nodes: fit,
  not_known_nodes: notKnown,
  oldest_evidence_ms: age,
}: StatusSummary): string {
  if (clusters === 0) return "no clusters";
  const counts = Object.entries(conditions).map(([kind, count]) => `${count} ${countedCondition(kind)}`);
  return [
    `${clusterCount(clusters)}: ${counts.join(", ")}`,
    `${fit} of ${nodes} ${nodes === 1 ? "node" : "nodes"} fit${notKnown === 0 ? "" : `, ${notKnown} not known`}` +
      (age === null ? "" : `, on evidence up to ${formatDuration(age)} old`),
  ].join("; ");
}

/** Formats a number of clusters: `1 cluster`, `40 clusters`. */
export function clusterCount(count: number): string {
  return count === 1 ? "1 cluster" : `${count} clusters`;
}

function oldestAge(nodes: readonly StatusNode[]): number | null {
  return nodes.reduce<number | null>(
    (oldest, { age_ms: age }) => (age === null ? oldest : Math.max(oldest ?? 0, age)),
    null,
  );
}
