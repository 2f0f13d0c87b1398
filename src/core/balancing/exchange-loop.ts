/** `stopped` is final. */
type LoopState =
  | { readonly phase: "new" | "exchanging" | "stopped" }
  /** The next exchange follows, at the latest when the timer fires. */
  | { readonly phase: "waiting"; readonly timer: NodeJS.Timeout };

/** Exchanges with a balancer, one at a time: at once when there is something to say, and again after a while. */
export class ExchangeLoop {
  readonly #exchange: (ended: AbortSignal) => Promise<number>;
  readonly #ended = new AbortController();
  #state: LoopState = { phase: "new" };

  /** @param exchange runs one. Must not reject. Returns how long to wait before the next one, in ms */
  constructor(exchange: (ended: AbortSignal) => Promise<number>) {
    this.#exchange = exchange;
  }

  /** Runs an exchange now, unless one is running. */
  now(): void {
    if (this.#state.phase === "waiting") clearTimeout(this.#state.timer);
    if (this.#state.phase === "waiting" || this.#state.phase === "new") void this.#run();
  }

  /** Runs no further exchange. Aborts the one that is running. */
  stop(): void {
    if (this.#state.phase === "waiting") clearTimeout(this.#state.timer);
    this.#state = { phase: "stopped" };
    this.#ended.abort();
  }

  async #run(): Promise<void> {
    this.#state = { phase: "exchanging" };
    const delayMs = await this.#exchange(this.#ended.signal);
    if (this.#ended.signal.aborted) return;
    if (delayMs === 0) void this.#run();
    else this.#state = { phase: "waiting", timer: setTimeout(() => void this.#run(), delayMs).unref() };
  }
}
