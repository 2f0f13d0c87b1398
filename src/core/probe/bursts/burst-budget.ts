/** The length of the window, in ms (rule 12). */
const windowMs = 600_000;
/** A burst's timer may fire this much late without a new entry, in ms. */
const lateMaxMs = 50;

/** A time in which a cluster was probed in bursts. */
interface Spending {
  readonly fromMs: number;
  untilMs: number;
}

/** Bounds the time that a cluster is probed in bursts within 10 minutes. */
export class BurstBudget {
  readonly #budgetMs: number;
  readonly #spent: Spending[] = [];

  /** @param budgetMs how much time may be used within the window, in ms */
  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs;
  }

  /** Whether some budget is left. @param nowMs in ms of the clock */
  isLeft(nowMs: number): boolean {
    while ((this.#spent[0]?.untilMs ?? Infinity) <= nowMs - windowMs) this.#spent.shift();
    let usedMs = 0;
    for (const { fromMs, untilMs } of this.#spent) usedMs += untilMs - Math.max(fromMs, nowMs - windowMs);
    return usedMs < this.#budgetMs;
  }

  /** Forgets what was used. */
  renew(): void {
    this.#spent.length = 0;
  }

  /**
   * Records the use of the time from now on for `ms`. Times that touch are merged, so the list holds about one entry
   * for each pause between bursts.
   */
  spend(nowMs: number, ms: number): void {
    const last = this.#spent.at(-1);
    if (last !== undefined && nowMs <= last.untilMs + lateMaxMs) last.untilMs = Math.max(last.untilMs, nowMs + ms);
    else this.#spent.push({ fromMs: nowMs, untilMs: nowMs + ms });
  }
}
