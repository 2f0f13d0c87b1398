/** The results of all losses as Markdown tables. Pure. */
import { lossKinds } from "./loss-kinds.ts";
import type { LossResult } from "./loss-round.ts";
import { type LossSetup, setupName } from "./loss-plan.ts";

/** The losses of one lab, and how the rows of its last primary differ from what clients were told. */
export interface LossSeries {
  readonly setup: LossSetup;
  /** Whether clients were held (`hold_on_loss`). */
  readonly isHeld: boolean;
  readonly losses: readonly LossResult[];
  readonly doubled: number;
  /** Acknowledged and not there; and those of them that replication cannot have lost. */
  readonly lost: number;
  readonly lostBeyond: number;
  readonly broken: readonly string[];
  /** Whether the rows were compared: not if the series ended with an error. Absent: they were. */
  readonly isCompared?: boolean;
}

/** One row for each kind of loss, with and without holds, then what does not hold. */
export function lossReportOf(series: readonly LossSeries[]): string {
  const head =
    "loss,played,transactions,failed,in flight + begun,beyond the bound,longest wait,holds,first PAUSE".split(",");
  const rows = [true, false].flatMap((isHeld) =>
    lossKinds.flatMap((kind) => {
      const own = series
        .filter((one) => one.isHeld === isHeld)
        .flatMap(({ losses }) => losses.filter((loss) => loss.kind === kind));
      return own.length === 0 ? [] : [rowOf(isHeld ? kind : `${kind}, not held`, own)];
    }),
  );
  const sums = sumsOf(series);
  const broken = series.flatMap(({ setup, losses, broken: ofAll }) =>
    [...losses.flatMap((loss) => loss.broken.map((text) => `${loss.kind}: ${text}`)), ...ofAll].map(
      (text) => `* ${setupName(setup)}: ${text}`,
    ),
  );
  const table = [head, ["---", ...head.slice(1).map(() => "--:")], ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [...table, "", sums, "", ...broken].join("\n");
}

function rowOf(name: string, losses: readonly LossResult[]): readonly string[] {
  const sum = (count: (loss: LossResult) => number): number => losses.reduce((all, one) => all + count(one), 0);
  const waits = sorted(losses.map(({ longestMs }) => longestMs));
  const pauses = sorted(losses.flatMap(({ pausedAfterMs }) => pausedAfterMs ?? []));
  const beyond = losses.map(({ failed, inFlight, begun }) => failed - inFlight - begun).filter((count) => count > 0);
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  return [
    name,
    String(losses.length),
    sum(({ transactions }) => transactions).toLocaleString("en"),
    String(sum(({ failed }) => failed)),
    `${sum(({ inFlight }) => inFlight)} + ${sum(({ begun }) => begun)}`,
    beyond.length === 0 ? "0" : `${beyond.length}, by ${Math.min(...beyond)} to ${Math.max(...beyond)}`,
    `${seconds(medianOf(waits))}, at most ${seconds(waits.at(-1) ?? 0)} s`,
    String(sum(({ holds }) => holds)),
    pauses.length === 0 ? "–" : `${medianOf(pauses)}, at most ${pauses.at(-1)} ms (of ${pauses.length})`,
  ];
}

function sorted(values: readonly number[]): readonly number[] {
  return values.toSorted((one, other) => one - other);
}

/** @param values in ascending order */
function medianOf(values: readonly number[]): number {
  return values[Math.floor((values.length - 1) / 2)] ?? 0;
}

function sumsOf(series: readonly LossSeries[]): string {
  const sum = (count: (one: LossSeries) => number): number => series.reduce((all, one) => all + count(one), 0);
  const falseHolds = sum(({ losses }) => losses.reduce((all, { holdsBefore }) => all + holdsBefore, 0));
  const returns = series.flatMap(({ losses }) => losses.filter((loss) => loss.lostByReturn > 0));
  const uncompared = series.filter(({ isCompared }) => isCompared === false).length;
  return (
    (uncompared === 0 ? "" : `Series that ended early, whose rows were not compared: ${uncompared}. `) +
    `Doubled rows: ${sum(({ doubled }) => doubled)}. Acknowledged and lost: ${sum(({ lost }) => lost)}, of which ` +
    `replication cannot have lost ${sum(({ lostBeyond }) => lostBeyond)}. Old leaders that took the lock back: ` +
    `${returns.length}, with ${returns.reduce((all, one) => all + one.lostByReturn, 0)} rows. Holds without a loss: ${falseHolds}.`
  );
}
