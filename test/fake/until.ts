import { setTimeout as sleep } from "node:timers/promises";

/** A wait: what should happen, and what to do when it does not. */
export interface Wait {
  /** What should happen, as the error names it. */
  readonly what: string;
  /** How long to wait, 20 s by default. */
  readonly seconds?: number;
  /** More text for the error, such as the last output of a process. */
  readonly evidence?: () => string;
}

/** The least time between two attempts. A slow attempt is followed by a pause as long as itself. */
const leastPauseMs = 10;

/**
 * Calls `attempt` repeatedly until it gives a value other than `undefined` and `false`. This is the only polling loop
 * of the tests: every wait has a deadline and says what it waited for.
 * @param wait what should happen, for the error message
 * @returns what `attempt` gave
 * @throws Error naming what did not happen, with the evidence, if the deadline passes first
 */
export async function until<T>(
  wait: string | Wait,
  attempt: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const { what, seconds = 20, evidence } = typeof wait === "string" ? { what: wait } : wait;
  const deadlineMs = performance.now() + seconds * 1000;
  for (;;) {
    const startedMs = performance.now();
    const found = await attempt();
    if (found !== undefined && found !== false) return found;
    const endedMs = performance.now();
    if (endedMs > deadlineMs) throw new Error(`Not seen within ${seconds} s: ${what}\n${evidence?.() ?? ""}`.trimEnd());
    await sleep(Math.max(leastPauseMs, endedMs - startedMs));
  }
}
