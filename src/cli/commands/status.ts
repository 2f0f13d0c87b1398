import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import type { ClusterStatus, StatusCluster } from "../../core/command/client/cluster-status.ts";
import { fetchStatus } from "../../app/client/fetch-status.ts";
import { diagnoseClusters } from "../status/diagnosis.ts";
import { sourceWords } from "../../core/command/client/next-command.ts";
import { reportText } from "../status/report.ts";
import { selectClusters, selectionOf } from "../status/selection/selection.ts";
import type { ShownCluster } from "../status/selection/shown-cluster.ts";
import { summarizeStatus } from "../status/selection/summary-line.ts";

/** `rolecall status`: prints the clusters as a table, and reports their problems as findings. */
export async function status(context: CommandContext): Promise<void> {
  checkOutput(context);
  if (context.args.has("watch")) return (await import("./watch.ts")).watch(context);
  report(context, await fetchStatus(context, (partial) => report(context, partial)));
}

function report(context: CommandContext, current: ClusterStatus): void {
  const { args, result, print } = context;
  const shown = selectClusters(current.clusters, selectionOf(args));
  const summary = summarizeStatus(current.clusters);
  result.cover("overview", "complete", { detail: current.by });
  result.data = { ...current, clusters: documentClusters(context, shown, current.clusters), summary };
  print(reportText(context, current));
  diagnoseClusters(result, current.clusters, sourceWords(args));
}

/** @throws CommandError (RC001) if --format and --output contradict each other */
function checkOutput({ args }: CommandContext): void {
  const [format, output] = [args.text("format"), args.text("output")];
  const isDocument = output === "json" || output === "yaml";
  if (format !== null && output !== null && (format === "json" ? output !== "json" : isDocument))
    throw new CommandError("RC001", `--format ${format} and --output ${output} cannot be used together`);
}

/** The clusters of the document: those shown, in the order of the server unless --sort is given. */
function documentClusters(
  { args }: CommandContext,
  shown: readonly ShownCluster[],
  clusters: readonly StatusCluster[],
): readonly StatusCluster[] {
  const selected = new Map(shown.map((row) => [row.cluster.cluster, { ...row.cluster, nodes: row.nodes }] as const));
  if (args.text("sort") !== null) return [...selected.values()];
  return clusters.flatMap((cluster) => {
    const row = selected.get(cluster.cluster);
    const kept = new Set(row?.nodes);
    return row === undefined ? [] : [{ ...cluster, nodes: cluster.nodes.filter((node) => kept.has(node)) }];
  });
}
