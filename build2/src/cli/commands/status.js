import { CommandError } from "../framework/command-error.js";
import { fetchStatus } from "../client/cluster-status.js";
import { diagnoseClusters } from "../status/diagnosis.js";
import { sourceWords } from "../client/next-command.js";
import { reportText } from "../status/report.js";
import { selectClusters, selectionOf } from "../status/selection/selection.js";
import { summarizeStatus } from "../status/selection/summary-line.js";
/** `rolecall status`: prints the clusters as a table, and reports their problems as findings. */
export async function status(context) {
    checkOutput(context);
    if (context.args.has("watch"))
        return (await import("./watch.js")).watch(context);
    report(context, await fetchStatus(context, (partial) => report(context, partial)));
}
function report(context, current) {
    const { args, result, print } = context;
    const shown = selectClusters(current.clusters, selectionOf(args));
    const summary = summarizeStatus(current.clusters);
    result.cover("overview", "complete", { detail: current.by });
    result.data = { ...current, clusters: documentClusters(context, shown, current.clusters), summary };
    print(reportText(context, current));
    diagnoseClusters(result, current.clusters, sourceWords(args));
}
/** @throws CommandError (RC001) if --format and --output contradict each other */
function checkOutput({ args }) {
    const [format, output] = [args.text("format"), args.text("output")];
    const isDocument = output === "json" || output === "yaml";
    if (format !== null && output !== null && (format === "json" ? output !== "json" : isDocument))
        throw new CommandError("RC001", `--format ${format} and --output ${output} cannot be used together`);
}
/** The clusters of the document: those shown, in the order of the server unless --sort is given. */
function documentClusters({ args }, shown, clusters) {
    const selected = new Map(shown.map((row) => [row.cluster.cluster, { ...row.cluster, nodes: row.nodes }]));
    if (args.text("sort") !== null)
        return [...selected.values()];
    return clusters.flatMap((cluster) => {
        const row = selected.get(cluster.cluster);
        const kept = new Set(row?.nodes);
        return row === undefined ? [] : [{ ...cluster, nodes: cluster.nodes.filter((node) => kept.has(node)) }];
    });
}
//# sourceMappingURL=status.js.map