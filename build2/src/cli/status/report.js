import { safe } from "../output/style.js";
import { wrapWords } from "../output/words.js";
import { sourceWords } from "../client/next-command.js";
import { reasonsFooter } from "./reasons-footer.js";
import { selectClusters, selectionOf } from "./selection/selection.js";
import { clusterCount, summarizeStatus, summaryLine } from "./selection/summary-line.js";
import { statusTable } from "./table/table.js";
/** Renders a status as the command line and the terminal want it. */
export function reportText({ args, io, style }, { clusters }) {
    const selection = selectionOf(args);
    return renderReport(selectClusters(clusters, selection), summarizeStatus(clusters), {
        width: io.stdout.isTerminal ? io.stdout.columns() : Infinity,
        isWide: args.text("output") === "wide",
        problemsOnly: selection.problemsOnly,
        style,
        source: sourceWords(args),
    });
}
/**
 * Renders a status as text: the summary of all clusters, the table, and what to do next.
 * @param shown the clusters to show, in order
 * @param summary the figures of all clusters
 */
export function renderReport(shown, summary, options) {
    const { width, style, problemsOnly, isWide, source } = options;
    if (problemsOnly && shown.length === 0)
        return `No problems in ${clusterCount(summary.clusters)}.\n`;
    const { head, lines, dropped } = statusTable(shown, { width, isWide, style, history: null });
    const footer = reasonsFooter(shown, options, source);
    const hidden = `not shown in ${width} columns: ${dropped.join(", ")}`;
    return [
        ...wrapWords(safe(summaryLine(summary)), width, 2).map(style.bold),
        "",
        ...(shown.length === 0 ? [] : [head]),
        ...lines.map((line) => line()),
        ...(isWide && dropped.length > 0 ? wrapWords(hidden, width, 2).map(style.dim) : []),
        ...(footer.length === 0 ? [] : ["", ...footer]),
        "",
    ].join("\n");
}
//# sourceMappingURL=report.js.map