/** Limits how much is in flight for each key. A key with nothing in flight uses no memory. */
export class InFlightLimiter {
  readonly #counts = new Map<string, number>();

  /** @returns the function to call once at the end; `null` if `max` are in flight already */
  acquire(key: string, max: number): (() => void) | null {
    const count = this.#counts.get(key) ?? 0;
    if (count >= max) return null;
    this.#counts.set(key, count + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}
