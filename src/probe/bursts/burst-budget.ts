/** How much burst time a cluster may use within the window (design.md, rule 12), in ms. */
const budgetMs = 60_000;
/** The length of the window, in ms. */
const windowMs = 600_000;

/** A time in which a cluster was probed in bursts. */
interface Spending {
  readonly fromMs: number;
  untilMs: number;
}

/** Bounds the time that a cluster is probed in bursts: 60 s in 10 minutes. */
export class BurstBudget {
  readonly #spent: Spending[] = [];

  /** Whether some budget is left. @param nowMs in ms of the clock */
  isLeft(nowMs: number): boolean {
    while ((this.#spent[0]?.untilMs ?? Infinity) <= nowMs - windowMs) this.#spent.shift();
    let usedMs = 0;
    for (const { fromMs, untilMs } of this.#spent) usedMs += untilMs - Math.max(fromMs, nowMs - windowMs);
    return usedMs < budgetMs;
  }

  /**
   * Records the use of the time from now on for `ms`. Times that touch are merged, so the list holds at most one entry
   * for each pause between bursts.
   */
  spend(nowMs: number, ms: number): void {
    const last = this.#spent.at(-1);
    if (last !== undefined && nowMs <= last.untilMs) last.untilMs = Math.max(last.untilMs, nowMs + ms);
    else this.#spent.push({ fromMs: nowMs, untilMs: nowMs + ms });
  }
}
