import assert from "node:assert/strict";
import type { CancelTimer } from "../../src/core/cluster/timer.ts";

/** A clock that moves from one timer to the next, so that each instant is exact to the millisecond. */
export class ManualClock {
  nowMs = 1_000;
  readonly #timers = new Map<object, { readonly dueMs: number; readonly run: () => void }>();

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Sets a timer. Nothing ends a timer whose delay is `Infinity`. */
  setTimer(run: () => void, delayMs: number): CancelTimer {
    assert.ok(delayMs >= 0, `a timer with a delay of ${delayMs} ms`);
    const key = {};
    if (delayMs < Infinity) this.#timers.set(key, { dueMs: this.nowMs + delayMs, run });
    return () => void this.#timers.delete(key);
  }

  /** Moves the clock only. The timers that are due then fire late. */
  skip(ms: number): void {
    this.nowMs += ms;
  }

  /** Lets time pass. What is due at the end of it happens. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].toSorted(([, one], [, other]) => one.dueMs - other.dueMs);
      if (next === undefined || next[1].dueMs > endMs) break;
      const [key, { dueMs, run }] = next;
      this.#timers.delete(key);
      this.nowMs = Math.max(this.nowMs, dueMs);
      run();
      // The run settles, and sets the next timer.
      await new Promise((resolve) => void setImmediate(resolve));
    }
    this.nowMs = endMs;
  }
}
