/** Limits how much may come: `burst` at once after a quiet time, and `perSecond` in the long run. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  #left: number;
  #refilledMs: number;

  /** @param now a monotonic clock, in ms */
  constructor({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }, now: () => number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
    this.#left = burst;
    this.#refilledMs = now();
  }

  /** Takes an amount. @returns whether there was enough; otherwise nothing is taken */
  take(amount: number): boolean {
    const nowMs = this.#now();
    const refill = (Math.max(0, nowMs - this.#refilledMs) * this.#perSecond) / 1_000;
    this.#left = Math.min(this.#burst, this.#left + refill);
    this.#refilledMs = nowMs;
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }

  /** Gives back what was taken last. */
  giveBack(amount: number): void {
    this.#left += amount;
  }
}
