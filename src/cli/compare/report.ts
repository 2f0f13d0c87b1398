import { formatDuration } from "../output/figures.ts";
import type { Style } from "../output/style.ts";
import { table } from "../output/table.ts";
import type { Counted } from "./comparison.ts";

/** What a comparison has come to, ready for JSON. */
export interface ComparisonData {
  readonly askings: number;
  readonly agreements: number;
  readonly rows: readonly RowData[];
}

interface RowData {
  readonly node: string;
  readonly check: string;
  readonly askings: number;
  readonly agreements: number;
  readonly differences: { readonly [words: string]: number };
  readonly lasting: { readonly [words: string]: number };
  readonly first: { readonly rolecall: Lead; readonly node: Lead; readonly together: number };
  readonly blips: { readonly rolecall: number; readonly node: number };
}

interface Lead {
  readonly changes: number;
  readonly median_ms: number | null;
}

/** Sums the counts up for JSON. */
export function comparisonData(rows: readonly Counted[]): ComparisonData {
  return {
    askings: sum(rows, ({ askings }) => askings),
    agreements: sum(rows, ({ agreements }) => agreements),
    rows: rows.map(({ node, check, askings, agreements, differences, lasting, firsts, blips }) => ({
      node,
      check,
      askings,
      agreements,
      differences: Object.fromEntries(differences),
      lasting: Object.fromEntries([...lasting].map(([words, { count }]) => [words, count])),
      first: { rolecall: lead(firsts.rolecall), node: lead(firsts.node), together: firsts.together },
      blips: { ...blips },
    })),
  };
}

/** The comparison for a person: a line a check, then what differed, then who was first. */
export function renderComparison({ askings, agreements, rows }: ComparisonData, style: Style): string {
  const share =
    askings === 0
      ? "nothing was asked"
      : `${agreements} of ${askings} askings agree (${((100 * agreements) / askings).toFixed(2)} %)`;
  const cells = rows.map(({ node, check, askings: asked, agreements: same, first, blips }) =>
    [
      node,
      check,
      String(asked),
      String(asked - same),
      leadText(first.rolecall),
      leadText(first.node),
      String(first.together),
      `${blips.rolecall} / ${blips.node}`,
    ].map((text) => ({ text })),
  );
  const head = ["NODE", "CHECK", "ASKED", "DIFFER", "ROLECALL FIRST", "NODE FIRST", "TOGETHER", "BLIPS (R / N)"];
  const differing = rows.flatMap(({ node, check, differences, lasting }) =>
    Object.entries(differences).map(([words, count]) =>
      [node, check, words, String(count), String(lasting[words] ?? 0)].map((text) => ({ text })),
    ),
  );
  return [
    `${style.bold(share)}\n`,
    table(head, cells, ["ASKED", "DIFFER", "TOGETHER"]),
    differing.length === 0
      ? "\nno differences\n"
      : `\n${table(["NODE", "CHECK", "DIFFERENCE", "TIMES", "LASTING"], differing, ["TIMES", "LASTING"])}`,
  ].join("");
}

function lead(leads: readonly number[]): Lead {
  const sorted = leads.toSorted((one, other) => one - other);
  return {
    changes: leads.length,
    median_ms: leads.length === 0 ? null : Math.round(sorted[Math.floor(leads.length / 2)] ?? 0),
  };
}

function leadText({ changes, median_ms: ms }: Lead): string {
  return ms === null ? "-" : `${changes} (${formatDuration(ms)})`;
}

function sum(rows: readonly Counted[], figure: (row: Counted) => number): number {
  return rows.reduce((total, row) => total + figure(row), 0);
}
