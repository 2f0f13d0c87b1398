import { median } from "./statistics.ts";
import { runLoad } from "./load.ts";
import { cpuMsOf } from "./process-stats.ts";
import type { Load, LoadResult } from "./load-result.ts";

/** The result of one load: answers per second, and processor time per answer in microseconds. */
export interface Measurement {
  readonly answersPerSecond: number;
  readonly microseconds: number;
}

/**
 * Puts a load on a server and measures the processor time of all its processes. Throws an Error if too many requests
 * fail.
 */
export async function measure(
  pids: readonly number[],
  load: Load,
  run: (load: Load) => Promise<LoadResult> = runLoad,
): Promise<Measurement> {
  const before = cpuMsOf(pids);
  const { answersPerSecond } = await run(load);
  return { answersPerSecond, microseconds: ((cpuMsOf(pids) - before) * 1_000) / (answersPerSecond * load.seconds) };
}

/** The median speed and the median cost. */
export function medianOf(measurements: readonly Measurement[]): Measurement {
  return {
    answersPerSecond: median(measurements.map((each) => each.answersPerSecond)),
    microseconds: median(measurements.map((each) => each.microseconds)),
  };
}

/** The median over all rounds of the ratio of both sides within a round: what slows a round slows both. */
export function medianRatio(
  ours: readonly Measurement[],
  theirs: readonly Measurement[],
  key: keyof Measurement,
): number {
  return median(ours.map((measurement, round) => measurement[key] / (theirs[round]?.[key] ?? Number.NaN)));
}
