import type { ClusterStatus, StatusCluster, StatusNode } from "../client/cluster-status.ts";
import { formatKnownDuration, formatLag, sparkline } from "../output/figures.ts";
import type { Style } from "../output/style.ts";
import { table, type Cell } from "../output/table.ts";

/** Returns the recent lags of a node in bytes, oldest first; `null` where the lag was unknown. */
export type LagHistory = (cluster: string, node: string) => readonly (number | null)[];

const head = ["NODE", "ROLE", "STATE", "TL", "LAG", "LAG TIME", "AGE", "FIT FOR", "REASON"];
const right = ["TL", "LAG", "LAG TIME", "AGE"];

/** Renders one table per cluster. @param history adds a sparkline of the lag of each node */
export function renderStatus({ clusters }: ClusterStatus, style: Style, history: LagHistory | null = null): string {
  return clusters.map((cluster) => renderCluster(cluster, style, history)).join("\n");
}

function renderCluster(cluster: StatusCluster, style: Style, history: LagHistory | null): string {
  const summary = [
    cluster.leader === null ? style.red("no leader") : `leader ${cluster.leader}`,
    ...(cluster.timeline === null ? [] : [`timeline ${cluster.timeline}`]),
    ...(cluster.paused ? [style.yellow("paused")] : []),
    ...(cluster.blind ? [style.red("blind")] : []),
  ];
  const rows = cluster.nodes.map((node) => [
    ...rowOf(node, style),
    ...(history === null ? [] : [{ text: sparkline(history(cluster.cluster, node.node)) }]),
  ]);
  const columns = [...head, ...(history === null ? [] : ["LAG HISTORY"])];
  return `${style.bold(cluster.cluster)}  ${summary.join(", ")}\n${table(columns, rows, right)}`;
}

function rowOf(node: StatusNode, style: Style): readonly Cell[] {
  const fit = fitRoutes(node);
  return [
    { text: node.node, paint: style.bold },
    { text: node.role ?? "-" },
    { text: node.state ?? "-" },
    { text: node.timeline === null ? "-" : String(node.timeline) },
    { text: formatLag(node.lag_bytes) },
    { text: formatKnownDuration(node.lag_ms) },
    { text: formatKnownDuration(node.age_ms) },
    { text: fit === "" ? "nothing" : fit, paint: fit === "" ? style.red : style.green },
    { text: reasonOf(node), paint: style.yellow },
  ];
}

/** The role routes that the node is fit for; with a question mark where that is not known yet. */
function fitRoutes({ verdicts }: StatusNode): string {
  const mark = (route: string): string[] =>
    verdicts[route] === "fit" ? [route] : verdicts[route] === "not known" ? [`${route}?`] : [];
  return ["primary", "standby-leader", "replica", "sync", "quorum", "async"].flatMap(mark).join(" ");
}

function reasonOf({ reason, detail, drain, warning }: StatusNode): string {
  if (drain !== null) return `drained for ${formatKnownDuration(drain.remaining_ms)}: ${drain.reason}`;
  if (reason === null) return warning === null ? "" : `warning: ${warning}`;
  return detail === null ? reason : `${reason}: ${detail}`;
}
