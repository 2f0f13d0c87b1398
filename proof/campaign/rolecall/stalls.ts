/** Times at which the machine, not rolecall, was late: of this process's event loop, and of rolecall's answers. */
export class Stalls {
  /** In the order of their ends. */
  readonly #stalls: { readonly fromMs: number; readonly toMs: number }[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** How many stalls, how long in all, and how often a bound was widened by one. */
  count = 0;
  totalMs = 0;
  widened = 0;
  /** How many answers were not judged at all, because of one. */
  excused = 0;

  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Starts monitoring this process's event loop. */
  start(): void {
    let lastMs = this.#now();
    this.#timer = setInterval(() => {
      const nowMs = this.#now();
      if (nowMs - lastMs > 70) this.note(lastMs + 20, nowMs);
      lastMs = nowMs;
    }, 20);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Records a stall. */
  note(fromMs: number, toMs: number): void {
    this.count += 1;
    this.totalMs += toMs - fromMs;
    // A stall that is contained in another one is recorded later, and ends earlier.
    const after = this.#stalls.findLastIndex((stall) => stall.toMs <= toMs);
    this.#stalls.splice(after + 1, 0, { fromMs, toMs });
    if (this.#stalls.length > 5_000) this.#stalls.shift();
  }

  /** The total stall time between two instants: the amount by which a bound is widened. */
  within(fromMs: number, toMs: number): number {
    let sum = 0;
    for (let index = this.#stalls.length - 1; index >= 0; index -= 1) {
      const stall = this.#stalls[index];
      if (stall === undefined || stall.toMs < fromMs - 10_000) break;
      sum += Math.max(0, Math.min(toMs, stall.toMs) - Math.max(fromMs, stall.fromMs));
    }
    if (sum > 0) this.widened += 1;
    return sum;
  }
}
