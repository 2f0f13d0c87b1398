/** Seeded random numbers (mulberry32): the same seed gives the same scenario. */
export class Chance {
  #state: number;

  /** @param seed any integer; only its low 32 bits count */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The next number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from low to high, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** True with the probability given. */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of a list that must not be empty. */
  pick<T>(list: readonly T[]): T {
    const chosen = list[this.int(0, list.length - 1)];
    if (chosen === undefined) throw new Error("Cannot pick: the list must not be empty");
    return chosen;
  }

  /** One key of a table of weights; keys of weight zero are never chosen. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const rows = Object.entries<number>(weights) as [K, number][];
    let left = this.next() * rows.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of rows) {
      left -= weight;
      if (left < 0) return key;
    }
    throw new Error("Cannot pick: one weight must be above zero");
  }

  /** An independent random stream for one part of the scenario. */
  fork(salt: number): Chance {
    return new Chance(Math.imul(this.int(0, 0x7fff_ffff) ^ salt, 0x9e3779b1));
  }
}
