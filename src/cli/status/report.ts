import type { ClusterStatus } from "../../core/command/client/cluster-status.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import type { Style } from "../../core/command/output/style.ts";
import { safe } from "../../core/command/output/style.ts";
import { wrapWords } from "../../core/command/output/words.ts";
import { sourceWords } from "../../core/command/client/next-command.ts";
import { configLine } from "./config-line.ts";
import { reasonsFooter } from "./reasons-footer.ts";
import { hasProblem, selectClusters, selectionOf } from "./selection/selection.ts";
import type { ShownCluster } from "./selection/shown-cluster.ts";
import { clusterCount, summarizeStatus, summaryLine, type StatusSummary } from "./selection/summary-line.ts";
import { statusTable } from "./table/table.ts";

/** How the report looks. */
export interface ReportOptions {
  /** The greatest length of a line; Infinity for an output that is no terminal. */
  readonly width: number;
  readonly isWide: boolean;
  /** Whether what is well was left out. */
  readonly problemsOnly: boolean;
  readonly style: Style;
  /** The options that say where the clusters are. */
  readonly source: readonly string[];
  /** The configuration of the running rolecall; `null` if unknown. */
  readonly config: ClusterStatus["config"];
  /** How many clusters that are ok are left out, and only counted. */
  readonly folded: number;
}

/** Renders a status as the command line and the terminal want it. */
export function reportText({ args, io, style }: CommandContext, { clusters, config }: ClusterStatus): string {
  const selection = selectionOf(args);
  const all = selectClusters(clusters, selection);
  const folds = io.stdout.isTerminal && !args.has("all") && all.length > unfoldedMax;
  const shown = folds ? all.filter(({ cluster }) => cluster.situation.condition !== "ok" || hasProblem(cluster)) : all;
  return renderReport(shown, summarizeStatus(clusters), {
    width: io.stdout.isTerminal ? io.stdout.columns() : Infinity,
    isWide: args.text("output") === "wide",
    problemsOnly: selection.problemsOnly,
    style,
    source: sourceWords(args),
    config,
    folded: all.length - shown.length,
  });
}

/** So many clusters are shown in full on a terminal, however well they are. */
const unfoldedMax = 3;

/**
 * Renders a status as text: the summary of all clusters, the table, and what to do next.
 * @param shown the clusters to show, in order
 * @param summary the figures of all clusters
 */
export function renderReport(shown: readonly ShownCluster[], summary: StatusSummary, options: ReportOptions): string {
  const { width, style, problemsOnly, isWide, source, config, folded } = options;
  const refused = wrapWords(safe(configLine(config) ?? ""), width, 2).filter((line) => line !== "");
  const warnings = refused.map((line) => `${style.red(line)}\n`).join("");
  if (problemsOnly && shown.length === 0) return `${warnings}No problems in ${clusterCount(summary.clusters)}.\n`;
  const { head, lines, dropped } = statusTable(shown, { width, isWide, style, history: null });
  const footer = reasonsFooter(shown, options, source);
  const hidden = `not shown in ${width} columns: ${dropped.join(", ")}`;
  return `${warnings}${[
    ...wrapWords(safe(summaryLine(summary)), width, 2).map(style.bold),
    "",
    ...(shown.length === 0 ? [] : [head]),
    ...lines.map((line) => line()),
    ...(folded === 0 ? [] : [style.dim(`${clusterCount(folded)} ok: --all shows ${folded === 1 ? "it" : "them"}`)]),
    ...(isWide && dropped.length > 0 ? wrapWords(hidden, width, 2).map(style.dim) : []),
    ...(footer.length === 0 ? [] : ["", ...footer]),
    "",
  ].join("\n")}`;
}
