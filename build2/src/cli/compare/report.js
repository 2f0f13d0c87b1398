import { formatDuration } from "../output/figures.js";
import { table } from "../output/table.js";
/** Summarises the counts for JSON. */
export function comparisonData(rows) {
    return {
        askings: sum(rows, ({ samples }) => samples),
        agreements: sum(rows, ({ agreements }) => agreements),
        rows: rows.map(({ node, check, samples, agreements, differences, lasting, leads, blips }) => ({
            node,
            check,
            askings: samples,
            agreements,
            differences: Object.fromEntries(differences),
            lasting: Object.fromEntries([...lasting].map(([answers, { count }]) => [answers, count])),
            first: { rolecall: summarise(leads.rolecall), node: summarise(leads.node), together: leads.together },
            blips: { ...blips },
        })),
    };
}
/** Renders a comparison as text: a table with one row per check, then a table of the differences. */
export function renderComparison({ askings, agreements, rows }, style) {
    const share = askings === 0
        ? "no samples"
        : `${agreements} of ${askings} samples agree (${((100 * agreements) / askings).toFixed(2)} %)`;
    const cells = rows.map(({ node, check, askings: samples, agreements: agreeing, first, blips }) => [
        node,
        check,
        String(samples),
        String(samples - agreeing),
        leadText(first.rolecall),
        leadText(first.node),
        String(first.together),
        `${blips.rolecall} / ${blips.node}`,
    ].map((text) => ({ text })));
    const head = ["NODE", "CHECK", "SAMPLES", "DIFFER", "ROLECALL FIRST", "NODE FIRST", "TOGETHER", "BLIPS (R / N)"];
    const differing = rows.flatMap(({ node, check, differences, lasting }) => Object.entries(differences).map(([answers, count]) => [node, check, answers, String(count), String(lasting[answers] ?? 0)].map((text) => ({ text }))));
    return [
        `${style.bold(share)}\n`,
        table(head, cells, ["SAMPLES", "DIFFER", "TOGETHER"]),
        differing.length === 0
            ? "\nno differences\n"
            : `\n${table(["NODE", "CHECK", "DIFFERENCE", "TIMES", "LASTING"], differing, ["TIMES", "LASTING"])}`,
    ].join("");
}
function summarise(leads) {
    const sorted = leads.toSorted((one, other) => one - other);
    return {
        changes: leads.length,
        median_ms: leads.length === 0 ? null : Math.round(sorted[Math.floor(leads.length / 2)] ?? 0),
    };
}
function leadText({ changes, median_ms: ms }) {
    return ms === null ? "-" : `${changes} (${formatDuration(ms)})`;
}
function sum(rows, figure) {
    return rows.reduce((total, row) => total + figure(row), 0);
}
//# sourceMappingURL=report.js.map