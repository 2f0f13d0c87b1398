import { formatLocalTime, localZone } from "./local-time.js";
import { safe } from "./style.js";
/** Narrower sentences are hard to read: below this, each has lines of its own, in characters. */
const sentenceMin = 30;
/** The indentation of sentences with lines of their own. */
const indentation = "  ";
/** Chooses the widths for these events. @param columns the width of the terminal, in characters */
export function layoutOf(events, columns) {
    return {
        cluster: widest("CLUSTER", events.map(({ cluster }) => cluster)),
        node: widest("NODE", events.map(({ node }) => node ?? "-")),
        columns,
    };
}
function widest(head, texts) {
    return Math.max(head.length, ...texts.map((text) => lengthOf(safe(text))));
}
/** The head of the table, with the zone of its times. */
export function eventTableHead(layout, nowMs, style) {
    const zone = `TIME (${localZone(nowMs)})`.padEnd(19);
    return `${style.bold(`${row([zone, "SEVERITY", "CLUSTER", "NODE"], layout)}${isWide(layout) ? "  EVENT" : ""}`)}\n`;
}
/** One row for each event. Sentences are wrapped between words, beside the other columns or, if narrow, below them. */
export function eventTableRows(events, layout, style) {
    return events.map((event) => rowOf(event, layout, style)).join("");
}
function rowOf({ atMs, severity, cluster, node, message }, layout, style) {
    const head = row([formatLocalTime(atMs), severity, safe(cluster), safe(node ?? "-")], layout);
    const paint = { error: style.red, warning: style.yellow, info: (text) => text }[severity];
    const start = isWide(layout) ? sentenceStart(layout) : indentation.length;
    const [first = "", ...rest] = wrap(safe(message), layout.columns - start).map(paint);
    const indented = rest.map((line) => `${" ".repeat(start)}${line}\n`).join("");
    return isWide(layout) ? `${head}  ${first}\n${indented}` : `${head.trimEnd()}\n${indentation}${first}\n${indented}`;
}
function row([time = "", severity = "", cluster = "", node = ""], layout) {
    return [time, severity.padEnd(8), pad(cluster, layout.cluster), pad(node, layout.node)].join("  ");
}
/** The column in which sentences begin beside the other columns. */
function sentenceStart({ cluster, node }) {
    return 19 + 2 + 8 + 2 + cluster + 2 + node + 2;
}
function isWide(layout) {
    return layout.columns - sentenceStart(layout) >= sentenceMin;
}
/** Breaks a text between words. A word that is longer than a line has a line of its own. */
function wrap(text, width) {
    const lines = [];
    for (const word of text.split(" ")) {
        const last = lines.at(-1);
        if (last === undefined || lengthOf(last) + 1 + lengthOf(word) > width)
            lines.push(word);
        else
            lines[lines.length - 1] = `${last} ${word}`;
    }
    return lines;
}
function pad(text, width) {
    return text + " ".repeat(Math.max(0, width - lengthOf(text)));
}
function lengthOf(text) {
    return Array.from(text).length;
}
//# sourceMappingURL=event-table.js.map