import { pause } from "./rolecall.ts";

/** One line of the table: a figure of ours, what it is held against, and whether that is reached. */
export type Row =
  | {
      readonly name: string;
      /** The figure that counts, mostly a ratio to a peer of the same run. */
      readonly figure: number;
      readonly bound: { readonly atLeast: number } | { readonly atMost: number } | null;
      /** What was measured on both sides, with units. */
      readonly detail: string;
    }
  | { readonly name: string; readonly notRun: string };

/** Makes rows; several that share their set-up come together. */
export interface RowMaker {
  /** The word that chooses it on the command line. */
  readonly word: string;
  run(rounds: Rounds): Promise<readonly Row[]>;
}

/** How long measuring may take. */
export interface Rounds {
  readonly count: number;
  readonly seconds: number;
}

/** What a storm leaves in queues is worked off before the next one begins, in ms. */
const settleMs = 1_000;

/** Measures both sides in turn, so that what else the machine does hits both. */
export async function interleave<T>(rounds: Rounds, sides: readonly ((seconds: number) => Promise<T>)[]): Promise<T[][]> {
  const results: T[][] = sides.map(() => []);
  for (let round = 0; round < rounds.count; round += 1) {
    for (const [at, side] of sides.entries()) {
      results[at]?.push(await side(rounds.seconds));
      await pause(settleMs);
    }
  }
  return results;
}
