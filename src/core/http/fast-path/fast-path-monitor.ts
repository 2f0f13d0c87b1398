import { errorMessage } from "../../cluster/values/error-message.ts";
import { noFastPathCounts, type FallbackReason, type FastPathCounts } from "../message/fast-path-counts.ts";

/** Counts what the fast path of one process does, and trips it at the first unexpected thing. */
export class FastPathMonitor {
  readonly #fallbacks: Record<FallbackReason, number> = { ...noFastPathCounts.fallbacks };
  readonly #onTrip: (problem: string) => void;
  #requests = 0;
  #isTripped = false;

  /** @param onTrip called once, with what was unexpected */
  constructor(onTrip: (problem: string) => void) {
    this.#onTrip = onTrip;
  }

  /** Whether the fast path must not be used any more in this process. */
  get isTripped(): boolean {
    return this.#isTripped;
  }

  get counts(): FastPathCounts {
    return { requests: this.#requests, fallbacks: { ...this.#fallbacks }, trips: this.#isTripped ? 1 : 0 };
  }

  countRequest(): void {
    this.#requests += 1;
  }

  countFallback(reason: FallbackReason): void {
    this.#fallbacks[reason] += 1;
  }

  /** Ends the use of the fast path in this process. Further calls do nothing. Never throws. */
  trip(error: unknown): void {
    if (this.#isTripped) return;
    this.#isTripped = true;
    try {
      this.#onTrip(errorMessage(error));
    } catch {
      // Callbacks of libuv are the callers. A log that fails must not end the process.
    }
  }
}
