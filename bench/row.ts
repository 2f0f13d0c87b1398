import { pause } from "./rolecall.ts";
import { ChildProgram } from "./child-program.ts";

/** The bound of a figure. `null` if nothing is promised. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | null;

/** One row of the table: a figure and its bound, or the reason why there is no figure. */
export type Row =
  | {
      readonly name: string;
      /** The figure, mostly a ratio to a peer of the same run. */
      readonly figure: number;
      readonly bound: Bound;
      /** What was measured on both sides, with units. */
      readonly detail: string;
    }
  /** A tool is missing. The name may be the prefix of several rows. */
  | { readonly name: string; readonly notRun: string }
  /** The measurement failed, which counts as a missed bound. */
  | { readonly name: string; readonly broken: string };

/** Measures rows that share their set-up. */
export interface RowMaker {
  /** The name that selects it on the command line. */
  readonly name: string;
  /** Rejects if the measurement breaks. */
  run(rounds: Rounds): Promise<readonly Row[]>;
}

/** How often and how long to measure. */
export interface Rounds {
  readonly count: number;
  readonly seconds: number;
  /** Pause after each measurement, in ms, so that queues drain before the next one. */
  readonly settleMs: number;
}

/** Measures the rows of one maker. An error makes a broken row. Every program that it started is stopped. */
export async function rowsOf(maker: RowMaker, rounds: Rounds): Promise<readonly Row[]> {
  try {
    return await maker.run(rounds);
  } catch (error) {
    return [{ name: maker.name, broken: error instanceof Error ? error.message : String(error) }];
  } finally {
    await ChildProgram.stopAll();
  }
}

/** Measures all sides in turn, so that other work on the machine affects each of them. */
export async function interleave<T>(
  rounds: Rounds,
  sides: readonly ((seconds: number) => Promise<T>)[],
): Promise<T[][]> {
  const results: T[][] = sides.map(() => []);
  for (let round = 0; round < rounds.count; round += 1) {
    for (const [at, side] of sides.entries()) {
      results[at]?.push(await side(rounds.seconds));
      await pause(rounds.settleMs);
    }
  }
  return results;
}
