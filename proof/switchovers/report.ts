/** The results of all series as a Markdown table. Pure. */
import type { RoundResult } from "./round.ts";
import type { Shares } from "./run-document.ts";
import type { SeriesResult } from "./series.ts";

/** One row for each version of Patroni and route, over all its series. */
export function reportOf(results: readonly SeriesResult[]): string {
  const variants = [...new Set(results.map(variantOf))].sort();
  const rows = variants.map((variant) =>
    rowOf(
      variant,
      results.filter((result) => variantOf(result) === variant),
    ),
  );
  const faults = results.flatMap((result) => result.faults.map((fault) => `* ${variantOf(result)}: ${fault}`));
  const head =
    "variant,switchovers,transactions,failed,lost or doubled,longest wait,demotion,pause,switch,route,resume".split(
      ",",
    );
  const table = [head, ["---", ...head.slice(1).map(() => "--:")], ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return [...table, "", ...faults].join("\n");
}

function variantOf({ patroni, route }: SeriesResult): string {
  return `Patroni ${patroni}, ${route}`;
}

function rowOf(variant: string, results: readonly SeriesResult[]): readonly string[] {
  const rounds = results.flatMap((result) => result.rounds);
  const sum = (count: (result: SeriesResult) => number): number => results.reduce((all, one) => all + count(one), 0);
  return [
    variant,
    String(rounds.length),
    sum(({ acknowledged }) => acknowledged).toLocaleString("en"),
    String(sum(({ failed }) => failed)),
    String(sum(({ wrongRows }) => wrongRows)),
    inSeconds(rounds.map(({ worstWaitMs }) => worstWaitMs)),
    inSeconds(rounds.flatMap(({ demotionMs }) => demotionMs ?? [])),
    ...(["pause", "switch", "route", "resume"] as const).map((share) => inMs(rounds, share)),
  ];
}

/** The median and the greatest, such as `1.64, at most 1.80 s`. */
function inSeconds(values: readonly number[]): string {
  const seconds = (ms: number): string => (ms / 1_000).toFixed(2);
  return values.length === 0 ? "" : `${seconds(medianOf(values))}, at most ${seconds(Math.max(...values))} s`;
}

function inMs(rounds: readonly RoundResult[], share: keyof Shares): string {
  const values = rounds.flatMap(({ shares }) => shares?.[share] ?? []);
  return values.length === 0 ? "" : `${Math.round(medianOf(values))}, at most ${Math.round(Math.max(...values))} ms`;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return ((low ?? 0) + (high ?? 0)) / 2;
}
