import { show } from "./figure.ts";
import type { Row } from "./row.ts";

/** Writes rows as one table for people. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) =>
    "notRun" in row
      ? [row.name, `not run: ${row.notRun}`, "", "", ""]
      : [row.name, show(row.figure), boundOf(row), isReached(row) ? "reached" : "MISSED", row.detail],
  );
  const all = [["measured", "figure", "bound", "", "how"], ...cells];
  const widths = [0, 1, 2, 3].map((at) =>
    Math.max(...all.map((line) => (at > 0 && (line[1] ?? "").startsWith("not run") ? 0 : (line[at]?.length ?? 0)))),
  );
  return all
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Whether the figure keeps its bound; a row without one, or one that was not run, misses nothing. */
export function isReached(row: Row): boolean {
  if ("notRun" in row || row.bound === null) return true;
  return "atLeast" in row.bound ? row.figure >= row.bound.atLeast : row.figure <= row.bound.atMost;
}

function boundOf({ bound }: Exclude<Row, { notRun: string }>): string {
  if (bound === null) return "";
  return "atLeast" in bound ? `>= ${bound.atLeast}` : `<= ${bound.atMost}`;
}
