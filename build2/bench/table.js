import { show } from "./statistics.js";
/**
 * Writes rows as one table for people: the figure, the bound, whether it is reached, and the measurements behind it.
 */
export function table(rows) {
    const cells = rows.map((row) => {
        if ("notRun" in row)
            return [row.name, "not run", "", "", `not run: ${row.notRun}`];
        if ("broken" in row)
            return [row.name, "-", "", "BROKEN", row.broken.replaceAll("\n", " ")];
        return [
            row.name,
            show(row.figure),
            showBound(row.bound),
            row.bound === null ? "" : isReached(row) ? "reached" : "MISSED",
            row.detail,
        ];
    });
    const all = [["measured", "figure", "bound", "", "how"], ...cells];
    const widths = [0, 1, 2, 3].map((at) => Math.max(...all.map((line) => line[at]?.length ?? 0)));
    return all
        .map((line) => line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd())
        .join("\n");
}
/**
 * Whether the row keeps its bound. A row without a bound, or with a missing tool, misses nothing. A broken row misses
 * its bound, and so does a row without a figure.
 */
export function isReached(row) {
    if ("notRun" in row)
        return true;
    if ("broken" in row || !Number.isFinite(row.figure))
        return false;
    if (row.bound === null)
        return true;
    return "atLeast" in row.bound ? row.figure >= row.bound.atLeast : row.figure <= row.bound.atMost;
}
/** Writes a bound as the table does. */
export function showBound(bound) {
    if (bound === null)
        return "none";
    return "atLeast" in bound ? `>= ${bound.atLeast}` : `<= ${bound.atMost}`;
}
//# sourceMappingURL=table.js.map