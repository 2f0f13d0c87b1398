import { safe } from "./style.ts";

/** A cell: plain text, and the style to apply after padding. */
export interface Cell {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/**
 * Renders a table with two spaces between columns. The columns in `right` are right-aligned; the last one is not
 * padded.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  right: readonly string[] = [],
): string {
  const all = [head.map((text): Cell => ({ text })), ...rows].map((row) =>
    row.map((cell) => ({ ...cell, text: safe(cell.text) })),
  );
  const widths = head.map((_, column) => Math.max(...all.map((row) => width(row[column]?.text ?? ""))));
  return all
    .map((row) =>
      row
        .map(({ text, paint: cellPaint = unpainted }, column) => {
          const paint = text === "" ? unpainted : cellPaint;
          const gap = " ".repeat(Math.max(0, (widths[column] ?? 0) - width(text)));
          if (right.includes(head[column] ?? "")) return gap + paint(text);
          return column === head.length - 1 ? paint(text) : paint(text) + gap;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
    .concat("\n");
}

function unpainted(text: string): string {
  return text;
}

function width(text: string): number {
  return Array.from(text).length;
}
