/** The results of faults as Markdown tables. Pure. */
import type { CellResult } from "./cell.ts";
import { faults } from "./fault-list.ts";

const cells = faults.flatMap(({ name, states }) => states.map((state) => ({ fault: name, state })));

/**
 * One row for each fault and state: its newest result; then one for each fault over all its states. In the order of the
 * list of faults.
 */
export function faultReportOf(results: readonly CellResult[]): string {
  const placeOf = ({ fault, state }: CellResult): number =>
    cells.findIndex((cell) => cell.fault === fault && cell.state === state);
  const newest = [...new Map(results.map((result) => [placeOf(result), result])).values()]
    .filter((result) => placeOf(result) >= 0)
    .toSorted((one, other) => placeOf(one) - placeOf(other));
  const names = [...new Set(newest.map(({ fault }) => fault))];
  const ofFaults = names.map((name) => rowOfAll(newest.filter(({ fault }) => fault === name)));
  const broken = newest.flatMap((result) => result.broken.map((text) => `* ${result.fault}, ${result.state}: ${text}`));
  return [
    ...tableOf("state", newest.map(rowOf)),
    "",
    ...tableOf("states", ofFaults),
    "",
    ...saidIn(newest),
    "",
    ...broken,
  ].join("\n");
}

/** What operators read, with the faults and states that lead to it. */
function saidIn(results: readonly CellResult[]): readonly string[] {
  const cellsOf = new Map<string, string[]>();
  for (const { fault, state, text } of results) if (text !== "") pushTo(cellsOf, text, `${fault} (${state})`);
  return [...cellsOf].map(([text, names]) => `* "${text}": ${names.join(", ")}`);
}

function pushTo(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function tableOf(states: string, rows: readonly (readonly string[])[]): readonly string[] {
  const head = ["fault", states, "outcome", "exit", "longest pause", "resumed by", "failed", "longest wait", "bounds"];
  const aligned = head.map((_, at) => ([3, 4, 6, 7].includes(at) ? "--:" : "---"));
  return [head, aligned, ...rows].map((row) => `| ${row.join(" | ")} |`);
}

function rowOf({ fault, state, outcome, resumedBy, broken, ...result }: CellResult): readonly string[] {
  const { pausedMs, failed, worstWaitMs } = result;
  const bounds = broken.length === 0 ? "held" : "**broken**";
  return [
    fault,
    state,
    outcome,
    exitOf(result),
    inSeconds(pausedMs),
    resumedBy.join(", "),
    String(failed),
    inSeconds(worstWaitMs),
    bounds,
  ];
}

/** All states of one fault: the greatest figures, and every outcome. */
function rowOfAll(results: readonly CellResult[]): readonly string[] {
  const each = (textOf: (result: CellResult) => readonly string[]): string =>
    [...new Set(results.flatMap(textOf))].join(", ");
  const most = (figureOf: (result: CellResult) => number): number => Math.max(...results.map(figureOf));
  const broken = results.filter((result) => result.broken.length > 0).length;
  return [
    each(({ fault }) => [fault]),
    each(({ state }) => [state]),
    each(({ outcome }) => [outcome]),
    each((result) => [exitOf(result)]),
    inSeconds(most(({ pausedMs }) => pausedMs)),
    each(({ resumedBy }) => resumedBy),
    String(most(({ failed }) => failed)),
    inSeconds(most(({ worstWaitMs }) => worstWaitMs)),
    broken === 0 ? "held" : `**broken in ${broken}**`,
  ];
}

function exitOf({ exitCode }: Pick<CellResult, "exitCode">): string {
  return exitCode === null ? "–" : String(exitCode);
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
