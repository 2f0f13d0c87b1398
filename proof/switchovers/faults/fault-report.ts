/** The results of faults as a Markdown table. Pure. */
import type { CellResult } from "./cell.ts";
import { faults } from "./fault-list.ts";

/** One row for each fault and state: its newest result. In the order of the list of faults. */
export function faultReportOf(results: readonly CellResult[]): string {
  const placeOf = ({ fault, state }: CellResult): number =>
    cells.findIndex((cell) => cell.fault === fault && cell.state === state);
  const newest = [...new Map(results.map((result) => [placeOf(result), result])).values()]
    .filter((result) => placeOf(result) >= 0)
    .toSorted((one, other) => placeOf(one) - placeOf(other));
  const head =
    "fault,state,outcome,longest pause,resumed by,failed transactions,longest wait,recovered after,bounds".split(",");
  const rows = newest.map(rowOf);
  const aligned = head.map((_, at) => ([3, 5, 6, 7].includes(at) ? "--:" : "---"));
  const broken = newest.flatMap((result) => result.broken.map((text) => `* ${result.fault}, ${result.state}: ${text}`));
  return [...[head, aligned, ...rows].map((cells) => `| ${cells.join(" | ")} |`), "", ...broken].join("\n");
}

const cells = faults.flatMap(({ name, states }) => states.map((state) => ({ fault: name, state })));

function rowOf({ fault, state, outcome, resumedBy, broken, ...result }: CellResult): readonly string[] {
  const { pausedMs, failed, worstWaitMs, recoveredMs } = result;
  return [
    fault,
    state,
    outcome,
    inSeconds(pausedMs),
    resumedBy.join(", "),
    String(failed),
    inSeconds(worstWaitMs),
    recoveredMs === null ? "" : inSeconds(recoveredMs),
    broken.length === 0 ? "held" : "**broken**",
  ];
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
