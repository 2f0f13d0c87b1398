import { median } from "./figure.ts";
import { storm } from "./load.ts";
import { cpuMsOf } from "./proc.ts";
import type { Storm, Weather } from "./weather.ts";

/** What one storm did: answers a second, and the processor time of one, in microseconds. */
export interface Blow {
  readonly answersPerSecond: number;
  readonly microseconds: number;
}

/** Blows a storm at some processes, and counts what their answers cost all of them. @throws Error when too many questions fail */
export async function blow(
  pids: readonly number[],
  asked: Storm,
  by: (asked: Storm) => Promise<Weather> = storm,
): Promise<Blow> {
  const before = cpuMsOf(pids);
  const { answersPerSecond } = await by(asked);
  return { answersPerSecond, microseconds: ((cpuMsOf(pids) - before) * 1_000) / (answersPerSecond * asked.seconds) };
}

/** The middle speed and the middle cost of several. */
export function middle(blows: readonly Blow[]): Blow {
  return {
    answersPerSecond: median(blows.map((each) => each.answersPerSecond)),
    microseconds: median(blows.map((each) => each.microseconds)),
  };
}

/** A figure of one side against that of the other in the same round, the middle one of all rounds: what slows a round slows both. */
export function middleRatio(ours: readonly Blow[], theirs: readonly Blow[], key: keyof Blow): number {
  return median(ours.map((blow_, round) => blow_[key] / (theirs[round]?.[key] ?? Number.NaN)));
}
