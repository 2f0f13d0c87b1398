import type { CommandContext } from "../framework/command-context.ts";
import { fetchStatus, type ClusterStatus, type StatusCluster, type StatusNode } from "../client/cluster-status.ts";
import { renderStatus } from "./status-table.ts";

/** `rolecall status`: prints the clusters as tables, and reports their problems as findings. */
export async function status(context: CommandContext): Promise<void> {
  if (context.args.has("watch")) return (await import("./watch.ts")).watch(context);
  report(context, await fetchStatus(context, (partial) => report(context, partial)));
}

function report(context: CommandContext, current: ClusterStatus): void {
  const { result, print, style } = context;
  result.cover("overview", "complete", { detail: current.by });
  result.data = current;
  print(renderStatus(current, style));
  diagnoseClusters(context, current);
}

/** Reports clusters without recent evidence or a primary, and nodes that are unfit for the routes of their role. */
function diagnoseClusters({ result }: CommandContext, { clusters }: ClusterStatus): void {
  for (const cluster of clusters) {
    const name = cluster.cluster;
    if (cluster.nodes.length === 0) result.diagnose("RC112", { message: `${name}: no node is known` });
    else if (cluster.blind) result.diagnose("RC052", { message: `${name}: no node has answered within max_age` });
    else if (!hasPrimary(cluster)) {
      const holder = cluster.leader === null ? "" : `, but ${cluster.leader} holds the lock`;
      result.diagnose("RC050", { message: `${name}: no node is fit for /primary${holder}` });
    }
    if (cluster.blind) continue;
    for (const node of cluster.nodes) diagnoseNode(result, name, node);
  }
}

function hasPrimary({ nodes }: StatusCluster): boolean {
  return nodes.some(({ verdicts }) => verdicts["primary"] === "fit" || verdicts["standby-leader"] === "fit");
}

function diagnoseNode(
  result: CommandContext["result"],
  cluster: string,
  { node, reason, detail, drain }: StatusNode,
): void {
  if (reason === null) return;
  const cause = detail === null ? reason : `${reason} (${detail})`;
  const isIntended = drain !== null && reason === "drained";
  result.diagnose("RC051", {
    message: `${cluster}/${node}: ${cause}`,
    ...(isIntended ? { severity: "info" as const } : {}),
  });
}
