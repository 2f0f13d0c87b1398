/** How often the event loop is looked at, in ms. */
const tickMs = 20;
/** Shorter delays do not count, in ms: with them the answers of nodes are still seen in time. */
const toleratedMs = 50;

/**
 * How late the event loop has been, in sum. A probe whose answer waits while this process is busy is late here: that
 * says nothing about the node (rule 8).
 */
export class LoopLateness {
  readonly #now: () => number;
  #dueMs: number;
  #sumMs = 0;

  /** @param now a monotonic clock, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#dueMs = now() + tickMs;
  }

  /** The sum of all delays so far, in ms, up to now. */
  get sumMs(): number {
    return this.#sumMs + this.#lateMs(this.#now());
  }

  /** Looks at the event loop from now on. Does not keep the process alive. @returns ends it */
  start(): () => void {
    this.#dueMs = this.#now() + tickMs;
    const timer = setInterval(() => this.tick(), tickMs).unref();
    return () => clearInterval(timer);
  }

  /** To be called every {@link tickMs}. */
  tick(): void {
    const nowMs = this.#now();
    this.#sumMs += this.#lateMs(nowMs);
    this.#dueMs = nowMs + tickMs;
  }

  #lateMs(nowMs: number): number {
    const lateMs = nowMs - this.#dueMs;
    return lateMs > toleratedMs ? lateMs : 0;
  }
}
