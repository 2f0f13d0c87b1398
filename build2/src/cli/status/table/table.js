import { safe } from "../../output/style.js";
import { shorten, textWidth, wrapWords } from "../../output/words.js";
import { statusColumns } from "./columns.js";
import { columnGap, columnWidth, fitColumns } from "./layout.js";
import { clusterTitle, nodeNotes, paintOfNotes } from "./notes.js";
/** Notes on lines of their own begin in this column. */
const notesIndent = 4;
/** Lays out the table: a line for each cluster, and one for each of its nodes, with all columns aligned. */
export function statusTable(clusters, options) {
    const { style, isWide, history, width } = options;
    const columns = statusColumns(style, isWide, history);
    const rows = new Map(clusters.map((shown) => [shown, shown.nodes.map((node) => rowOf(node, shown, columns))]));
    const all = [...rows.values()].flat();
    const sizes = columns.map(({ title, dropRank }, index) => ({
        dropRank,
        width: columnWidth([title, ...all.map(({ cells }) => cells[index]?.text ?? "")]),
    }));
    const layout = fitColumns(sizes, width, columnWidth(all.map(({ notes }) => notes)));
    const lines = [...rows].flatMap(([shown, nodes]) => [
        ...titleLines(shown, options),
        ...nodes.flatMap((row) => nodeLines(row, { columns, layout }, options)),
    ]);
    const head = columns.map(({ title }) => ({ text: title, paint: style.dim }));
    const notesTitle = layout.areNotesBeside && all.some(({ notes }) => notes !== "") ? style.dim("NOTES") : "";
    return {
        head: renderCells(head, { columns, layout }, notesTitle),
        lines,
        dropped: columns.filter((_, index) => layout.widths[index] === null).map(({ title }) => title),
    };
}
function rowOf(node, { cluster }, columns) {
    const cells = columns.map(({ cell }) => cell(node, cluster)).map((cell) => ({ ...cell, text: safe(cell.text) }));
    return { node, cells, notes: safe(nodeNotes(node)) };
}
/** The name of the cluster and what is to be said of it, with line breaks between its parts or words. */
function titleLines(shown, { width, style }) {
    const name = shorten(safe(shown.cluster.cluster), width);
    const lines = [{ text: style.bold(name), width: textWidth(name) }];
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
            }
            else
                lines.push({ text: " ".repeat(columnGap) + painted, width: columnGap + textWidth(piece) });
        }
    }
    return lines.map(({ text }) => () => text);
}
/** The line of a node, and the lines that its notes need beside or below the columns. */
function nodeLines({ node, cells, notes }, table, { width, style }) {
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
function renderCells(cells, { columns, layout }, notes) {
    const texts = cells.flatMap(({ text: full, paint }, index) => {
        const width = layout.widths[index] ?? null;
        if (width === null)
            return [];
        const text = shorten(full, width);
        const painted = text === "" || paint === undefined ? text : paint(text);
        const padding = " ".repeat(Math.max(0, width - textWidth(text)));
        return [columns[index]?.isRightAligned === true ? padding + painted : painted + padding];
    });
    return [...texts, notes].join(" ".repeat(columnGap)).trimEnd();
}
//# sourceMappingURL=table.js.map