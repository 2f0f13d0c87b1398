import { formatDuration } from "../../core/command/output/figures.ts";
import type { Style } from "../../core/command/output/style.ts";
import { table } from "../../core/command/output/table.ts";
import type { CheckComparison } from "./comparison.ts";

/**
 * The result of a comparison. The fields are those of the JSON data. `askings` counts pairs of samples, one of each
 * side.
 */
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
  readonly differences: { readonly [answers: string]: number };
  readonly lasting: { readonly [answers: string]: number };
  readonly first: { readonly rolecall: Lead; readonly node: Lead; readonly together: number };
  readonly blips: { readonly rolecall: number; readonly node: number };
}

/** How often one side was first, and the median of its lead. */
interface Lead {
  readonly changes: number;
  readonly median_ms: number | null;
}

/** Summarises the counts for JSON. */
export function comparisonData(rows: readonly CheckComparison[]): ComparisonData {
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
export function renderComparison({ askings, agreements, rows }: ComparisonData, style: Style): string {
  const share =
    askings === 0
      ? "no samples"
      : `${agreements} of ${askings} samples agree (${((100 * agreements) / askings).toFixed(2)} %)`;
  const cells = rows.map(({ node, check, askings: samples, agreements: agreeing, first, blips }) =>
    [
      node,
      check,
      String(samples),
      String(samples - agreeing),
      leadText(first.rolecall),
      leadText(first.node),
      String(first.together),
      `${blips.rolecall} / ${blips.node}`,
    ].map((text) => ({ text })),
  );
  const head = ["NODE", "CHECK", "SAMPLES", "DIFFER", "ROLECALL FIRST", "NODE FIRST", "TOGETHER", "BLIPS (R / N)"];
  const differing = rows.flatMap(({ node, check, differences, lasting }) =>
    Object.entries(differences).map(([answers, count]) =>
      [node, check, answers, String(count), String(lasting[answers] ?? 0)].map((text) => ({ text })),
    ),
  );
  return [
    `${style.bold(share)}\n`,
    table(head, cells, ["SAMPLES", "DIFFER", "TOGETHER"]),
    differing.length === 0
      ? "\nno differences\n"
      : `\n${table(["NODE", "CHECK", "DIFFERENCE", "TIMES", "LASTING"], differing, ["TIMES", "LASTING"])}`,
    ...(rows.length === 0 ? [] : ["\n", ...legend].map((line) => style.dim(line))),
  ].join("");
}

/** What the columns count. */
const legend = [
  "ROLECALL FIRST, NODE FIRST: changes that one side showed before the other (how much earlier, median)\n",
  "BLIPS: changes that rolecall (R) or the node (N) took back before the other side showed them\n",
  "TIMES: samples with this difference; LASTING: those of them after the sides had differed for max_age\n",
];

function summarise(leads: readonly number[]): Lead {
  const sorted = leads.toSorted((one, other) => one - other);
  return {
    changes: leads.length,
    median_ms: leads.length === 0 ? null : Math.round(sorted[Math.floor(leads.length / 2)] ?? 0),
  };
}

function leadText({ changes, median_ms: ms }: Lead): string {
  return ms === null ? "-" : `${changes} (${formatDuration(ms)})`;
}

function sum(rows: readonly CheckComparison[], figure: (row: CheckComparison) => number): number {
  return rows.reduce((total, row) => total + figure(row), 0);
}
