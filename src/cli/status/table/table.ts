import type { StatusNode } from "../../../core/command/client/cluster-status.ts";
import { safe, type Style } from "../../../core/command/output/style.ts";
import type { Cell } from "../../../core/command/output/table.ts";
import { shorten, textWidth, wrapWords } from "../../../core/command/output/words.ts";
import { statusColumns, type LagHistory, type StatusColumn } from "./columns.ts";
import { columnGap, columnWidth, fitColumns, type TableLayout } from "./layout.ts";
import {
  clusterTitle,
  nodeNotes,
  paintOfNotes,
  canaryNotes,
  routeNotes,
  serviceNotes,
  situationNotes,
} from "./notes.ts";
import type { ShownCluster } from "../selection/shown-cluster.ts";

/** How the table looks. */
export interface TableOptions {
  /** The greatest length of a line, in characters; Infinity for an output that is no terminal. */
  readonly width: number;
  /** Whether to show the columns of `--output wide`. */
  readonly isWide: boolean;
  readonly style: Style;
  /** Adds a sparkline of the lag of each node. */
  readonly history: LagHistory | null;
}

/** Renders one line. Lines are rendered on use, because a terminal shows few of the lines of many clusters. */
export type LazyLine = () => string;

/** The table of all clusters. */
export interface StatusTable {
  readonly head: string;
  readonly lines: readonly LazyLine[];
  /** The titles of the columns that did not fit. */
  readonly dropped: readonly string[];
}

/** Notes on lines of their own begin in this column. */
const notesIndent = 4;

/** A node, and the texts of its row. */
interface NodeRow {
  readonly node: StatusNode;
  readonly cells: readonly Cell[];
  readonly notes: string;
}

/** Lays out the table: a line for each cluster, and one for each of its nodes, with all columns aligned. */
export function statusTable(clusters: readonly ShownCluster[], options: TableOptions): StatusTable {
  const { style, isWide, history, width } = options;
  const columns = statusColumns(style, isWide, history);
  const rows = new Map(
    clusters.map((shown) => [shown, shown.nodes.map((node) => rowOf(node, shown, columns))] as const),
  );
  const all = [...rows.values()].flat();
  const sizes = columns.map(({ title, dropRank }, index) => ({
    dropRank,
    width: columnWidth([title, ...all.map(({ cells }) => cells[index]?.text ?? "")]),
  }));
  const layout = fitColumns(sizes, width, columnWidth(all.map(({ notes }) => notes)));
  const lines = [...rows].flatMap(([shown, nodes]) => [
    ...titleLines(shown, options),
    ...[
      ...situationNotes(shown.cluster, style),
      ...routeNotes(shown.cluster, style),
      ...canaryNotes(shown.cluster, style),
      ...serviceNotes(shown.cluster, style),
    ].flatMap(({ text, paint }) =>
      wrapWords(safe(text), width - columnGap, columnGap).map((line) => () => " ".repeat(columnGap) + paint(line)),
    ),
    ...nodes.flatMap((row) => nodeLines(row, { columns, layout }, options)),
  ]);
  const head = columns.map(({ title }): Cell => ({ text: title, paint: style.dim }));
  const notesTitle = layout.areNotesBeside && all.some(({ notes }) => notes !== "") ? style.dim("NOTES") : "";
  return {
    head: renderCells(head, { columns, layout }, notesTitle),
    lines,
    dropped: columns.filter((_, index) => layout.widths[index] === null).map(({ title }) => title),
  };
}

function rowOf(node: StatusNode, { cluster }: ShownCluster, columns: readonly StatusColumn[]): NodeRow {
  const cells = columns.map(({ cell }) => cell(node, cluster)).map((cell) => ({ ...cell, text: safe(cell.text) }));
  return { node, cells, notes: safe(nodeNotes(node)) };
}

/** The name of the cluster and its summary, with line breaks between the parts or words of the summary. */
function titleLines(shown: ShownCluster, { width, style }: TableOptions): readonly LazyLine[] {
  const name = shorten(safe(shown.cluster.cluster), width);
  const lines: { text: string; width: number }[] = [{ text: style.bold(name), width: textWidth(name) }];
  const parts = clusterTitle(shown, style);
  for (const [index, { text, paint }] of parts.entries()) {
    const separator = index === parts.length - 1 ? "" : ",";
    for (const [at, piece] of wrapWords(safe(text) + separator, width - columnGap).entries()) {
      const gap = index === 0 && at === 0 ? columnGap : 1;
      const line = lines.at(-1);
      const painted = separator !== "" && piece.endsWith(",") ? `${paint(piece.slice(0, -1))},` : paint(piece);
      if (line !== undefined && line.width + gap + textWidth(piece) <= width) {
        line.text += " ".repeat(gap) + painted;
        line.width += gap + textWidth(piece);
      } else lines.push({ text: " ".repeat(columnGap) + painted, width: columnGap + textWidth(piece) });
    }
  }
  return lines.map(
    ({ text }) =>
      () =>
        text,
  );
}

interface Columns {
  readonly columns: readonly StatusColumn[];
  readonly layout: TableLayout;
}

/** The line of a node, and the lines that its notes need beside or below the columns. */
function nodeLines(
  { node, cells, notes }: NodeRow,
  table: Columns,
  { width, style }: TableOptions,
): readonly LazyLine[] {
  const { notesWidth, areNotesBeside } = table.layout;
  const isBeside = areNotesBeside || textWidth(notes) <= notesWidth;
  const wrapped = wrapWords(notes, isBeside ? notesWidth : width - notesIndent);
  const [first = "", ...rest] = isBeside ? wrapped : ["", ...wrapped];
  const indent = isBeside ? width - notesWidth : notesIndent;
  const paint = paintOfNotes(node, style);
  return [
    () => renderCells(cells, table, first === "" ? "" : paint(first)),
    ...rest.map((line) => () => " ".repeat(indent) + paint(line)),
  ];
}

function renderCells(cells: readonly Cell[], { columns, layout }: Columns, notes: string): string {
  const texts = cells.flatMap(({ text: full, paint }, index) => {
    const width = layout.widths[index] ?? null;
    if (width === null) return [];
    const text = shorten(full, width);
    const painted = text === "" || paint === undefined ? text : paint(text);
    const padding = " ".repeat(Math.max(0, width - textWidth(text)));
    return [columns[index]?.isRightAligned === true ? padding + painted : painted + padding];
  });
  return [...texts, notes].join(" ".repeat(columnGap)).trimEnd();
}
