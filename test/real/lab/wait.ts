/** Waiting with a deadline: a condition that stays away ends the test with the reason, never with a hang. */
import { setTimeout as sleep } from "node:timers/promises";

/** What is waited for, for how long, and what to show when it does not come. */
export interface Wait {
  readonly what: string;
  readonly seconds: number;
  readonly evidence?: () => string;
}

const pollMs = 200;

/**
 * Tries `attempt` every 200 ms until it gives a value.
 * @returns that value
 * @throws Error naming what was waited for, with the evidence, once `seconds` have passed
 */
export async function until<T>(wait: Wait, attempt: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + wait.seconds * 1000;
  for (;;) {
    const value = await attempt();
    if (value !== undefined) return value;
    if (performance.now() > endMs)
      throw new Error(`No ${wait.what} within ${wait.seconds} s\n${wait.evidence?.() ?? ""}`);
    await sleep(pollMs);
  }
}
