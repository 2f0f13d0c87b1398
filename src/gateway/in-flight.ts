/** Counts what is under way by a key, each key up to its bound. Keys with nothing under way take no room. */
export class InFlight {
  readonly #counts = new Map<string, number>();

  /** @returns what is to be called once when it is over; `null` where `most` are under way already */
  enter(key: string, most: number): (() => void) | null {
    const count = this.#counts.get(key) ?? 0;
    if (count >= most) return null;
    this.#counts.set(key, count + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}
