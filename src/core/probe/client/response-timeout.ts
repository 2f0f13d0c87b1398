import type { Failure } from "../../cluster/observation.ts";

/** How late the event loop has been. */
export interface Lateness {
  /** The sum of all its delays so far, in ms. */
  readonly sumMs: number;
}

/**
 * The time limit of one response. Time in which this process did not look at its sockets is not the node's: the limit
 * moves by it, once, and by the limit itself at most (rule 8).
 */
export class ResponseTimeout {
  readonly #timeoutMs: number;
  readonly #lateness: Lateness | null;
  readonly #onFailure: (failure: Failure) => void;
  readonly #lateBeforeMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param onFailure called once, unless {@link end} is called before */
  constructor(timeoutMs: number, lateness: Lateness | null, onFailure: (failure: Failure) => void) {
    this.#timeoutMs = timeoutMs;
    this.#lateness = lateness;
    this.#onFailure = onFailure;
    this.#lateBeforeMs = lateness?.sumMs ?? 0;
  }

  /** The request is sent now. */
  start(): void {
    this.#timer = setTimeout(() => this.#onTimeout(), this.#timeoutMs);
  }

  /** The response has come, or will not. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #onTimeout(): void {
    const lateMs = Math.min(this.#lateMs, this.#timeoutMs);
    if (lateMs > 0) this.#timer = setTimeout(() => this.#onLastTimeout(lateMs), lateMs);
    else this.#fail();
  }

  /** @param addedMs by how much the limit was moved */
  #onLastTimeout(addedMs: number): void {
    // Otherwise the node had about its whole limit.
    if (this.#lateMs <= this.#timeoutMs) this.#fail();
    else {
      const detail = `no answer within ${this.#timeoutMs + addedMs} ms, in which rolecall itself was late`;
      this.#onFailure({ kind: "late_here", detail });
    }
  }

  get #lateMs(): number {
    return (this.#lateness?.sumMs ?? 0) - this.#lateBeforeMs;
  }

  #fail(): void {
    this.#onFailure({ kind: "timeout", detail: `no answer within ${this.#timeoutMs} ms` });
  }
}
