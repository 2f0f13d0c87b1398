import { textWidth } from "../../../core/command/output/words.ts";

/** A column as far as its width goes. */
export interface ColumnSize {
  /** The width of its widest cell, in characters. */
  readonly width: number;
  /** Columns with a higher number are left out first; 0 is never left out. */
  readonly dropRank: number;
}

/** Which columns fit, how wide they are, and where the notes go. */
export interface TableLayout {
  /** The width of each column; `null` for a column that is left out. */
  readonly widths: readonly (number | null)[];
  /** The width that is left for notes at the end of a row; longer notes have lines of their own below it. */
  readonly notesWidth: number;
  /** Whether notes that are longer are wrapped at the end of the row instead. */
  readonly areNotesBeside: boolean;
}

/** The number of spaces between columns. */
export const columnGap = 2;
/** Notes that are longer than this are wrapped beside the columns, if the terminal has the room. */
const notesLeast = 24;
/** The name of a node is shortened to this part of the line, and not below this number of characters. */
const longest = { part: 0.5, least: 8 };

/**
 * Fits columns into a width. First the notes get lines of their own, then columns are left out, highest rank first, and
 * at last the widest column is shortened.
 * @param available the width of the terminal in characters; Infinity for an output that is no terminal
 * @param notes the width of the longest notes, 0 if there are none
 */
export function fitColumns(columns: readonly ColumnSize[], available: number, notes: number): TableLayout {
  const longestCell = Math.max(longest.least, Math.floor(available * longest.part));
  const widths: (number | null)[] = columns.map(({ width }) => Math.min(width, longestCell));
  const total = (): number => {
    const kept = widths.filter((width) => width !== null);
    return kept.reduce((sum, width) => sum + width, 0) + columnGap * (kept.length - 1);
  };
  const ranked = columns
    .map(({ dropRank }, index) => ({ dropRank, index }))
    .filter(({ dropRank }) => dropRank > 0)
    .sort((a, b) => b.dropRank - a.dropRank);
  for (const { index } of ranked) if (total() > available) widths[index] = null;
  shrink(widths, total() - available);
  const beside = available - total() - columnGap;
  return { widths, notesWidth: Math.max(0, beside), areNotesBeside: beside >= Math.min(notes, notesLeast) };
}

/** Makes the widest column narrower by `excess` characters, as far as one character is left. */
function shrink(widths: (number | null)[], excess: number): void {
  if (excess <= 0) return;
  const widest = Math.max(...widths.map((width) => width ?? 0));
  widths[widths.indexOf(widest)] = Math.max(1, widest - excess);
}

/** The width of the widest text of a column. */
export function columnWidth(texts: Iterable<string>): number {
  let widest = 0;
  for (const text of texts) widest = Math.max(widest, textWidth(text));
  return widest;
}
