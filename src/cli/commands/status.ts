import type { CommandContext } from "../framework/command-context.ts";
import { fetchStatus, type ClusterStatus, type StatusCluster, type StatusNode } from "../client/cluster-status.ts";
import { renderStatus } from "./status-table.ts";

/** `rolecall status`: the clusters as a table, and what is wrong with them as findings. */
export async function status(context: CommandContext): Promise<void> {
  const { args, result, print, style } = context;
  if (args.has("watch")) return (await import("./watch.ts")).watch(context);
  const seen = await fetchStatus(context);
  result.cover("overview", "complete", { detail: seen.by });
  result.data = seen;
  print(renderStatus(seen, style));
  diagnoseClusters(context, seen);
}

/** What a person should look at: a cluster out of sight or without a primary, a node that does not serve as what it is. */
function diagnoseClusters({ result }: CommandContext, { clusters }: ClusterStatus): void {
  for (const cluster of clusters) {
    const name = cluster.cluster;
    if (cluster.nodes.length === 0) result.diagnose("RC112", { message: `${name}: no node is known` });
    else if (cluster.blind) result.diagnose("RC052", { message: `${name}: no node has answered lately` });
    else if (!isLed(cluster))
      result.diagnose("RC050", {
        message: `${name}: no node is fit for /primary${cluster.leader === null ? "" : `, though ${cluster.leader} holds the lock`}`,
      });
    if (cluster.blind) continue;
    for (const node of cluster.nodes) diagnoseNode(result, name, node);
  }
}

function isLed({ nodes }: StatusCluster): boolean {
  return nodes.some(({ verdicts }) => verdicts["primary"] === "fit" || verdicts["standby-leader"] === "fit");
}

function diagnoseNode(
  result: CommandContext["result"],
  cluster: string,
  { node, reason, detail, drain }: StatusNode,
): void {
  if (reason === null) return;
  const why = detail === null ? reason : `${reason} (${detail})`;
  const isMeant = drain !== null && reason === "drained";
  result.diagnose("RC051", {
    message: `${cluster}/${node}: ${why}`,
    ...(isMeant ? { severity: "info" as const } : {}),
  });
}
