import type { Failure } from "../../cluster/observation.ts";
import type { ParseTime } from "../client/probe-context.ts";

/** What parsing the answers of one cluster may take in the long run, in ms a second. */
const perSecondMs = 25;
/** What it may take at once after a quiet time, in ms. */
const burstMs = 250;
/** An answer of a real node takes less than this, in ms. */
const cheapMs = 0.25;

/** Limits the time that the answers of one cluster take to parse, so that they cost other clusters little. */
export class ParseBudget implements ParseTime {
  readonly #now: () => number;
  #leftMs = burstMs;
  #refilledMs: number;

  /** @param now a clock that runs while this process does, in ms */
  constructor(now: () => number) {
    this.#now = now;
    this.#refilledMs = now();
  }

  parse<Result>(lastMs: number, parse: () => Result): { readonly result: Result; readonly tookMs: number } | null {
    const beganMs = this.#now();
    this.#leftMs = Math.min(burstMs, this.#leftMs + ((beganMs - this.#refilledMs) * perSecondMs) / 1_000);
    this.#refilledMs = beganMs;
    if (this.#leftMs <= 0 && lastMs > cheapMs) return null;
    const result = parse();
    const tookMs = this.#now() - beganMs;
    // One pause of this process must not use up the time of many seconds.
    this.#leftMs -= Math.min(tookMs, burstMs);
    return { result, tookMs };
  }
}

/** Why an answer is not parsed. */
export const noTimeToParse: Failure = {
  kind: "too_large",
  detail: `parsing the answers of this cluster takes more than ${perSecondMs} ms a second`,
};
