import { pause } from "./rolecall.ts";
import { Started } from "./started.ts";

/** What a figure is held to; `null` where nothing is promised. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | null;

/** One line of the table: a figure of ours, what it is held against, and whether that is reached. */
export type Row =
  | {
      readonly name: string;
      /** The figure that counts, mostly a ratio to a peer of the same run. */
      readonly figure: number;
      readonly bound: Bound;
      /** What was measured on both sides, with units. */
      readonly detail: string;
    }
  /** A tool is missing: nothing is told. The name may be the beginning of several rows' names. */
  | { readonly name: string; readonly notRun: string }
  /** Measuring failed: the row is missed, whatever its figure would have been. */
  | { readonly name: string; readonly broken: string };

/** Makes rows; several that share their set-up come together. */
export interface RowMaker {
  /** The word that chooses it on the command line. */
  readonly word: string;
  /** @throws Error when what it measures with breaks */
  run(rounds: Rounds): Promise<readonly Row[]>;
}

/** How long measuring may take. */
export interface Rounds {
  readonly count: number;
  readonly seconds: number;
  /** What a storm leaves in queues is worked off before the next one begins, in ms. */
  readonly settleMs: number;
}

/** Makes the rows of one maker; an error is a broken row, and no end of the others. Nothing that it started goes on. */
export async function rowsOf(maker: RowMaker, rounds: Rounds): Promise<readonly Row[]> {
  try {
    return await maker.run(rounds);
  } catch (error) {
    return [{ name: maker.word, broken: error instanceof Error ? error.message : String(error) }];
  } finally {
    await Started.stopAll();
  }
}

/** Measures all sides in turn, so that what else the machine does hits each of them. */
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
