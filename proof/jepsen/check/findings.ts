/** What the checker finds: violations of promises, and what it counted on the way. */

export type PromiseName = "write" | "read" | "min-lsn" | "fit" | "served" | "alive";

export interface Violation {
  readonly promise: PromiseName;
  readonly text: string;
}

export interface Findings {
  readonly violations: readonly Violation[];
  /** Counts add up over runs. */
  readonly counts: Readonly<Record<string, number>>;
  /** Of maxima the greatest one is kept. */
  readonly maxima: Readonly<Record<string, number>>;
}

/** Findings while they grow. */
export class FindingsBook {
  readonly #violations: Violation[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #maxima: Record<string, number> = {};

  violate(promise: PromiseName, text: string): void {
    this.#violations.push({ promise, text });
  }

  count(name: string, by = 1): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + by;
  }

  atMost(name: string, value: number): void {
    this.#maxima[name] = Math.max(this.#maxima[name] ?? 0, Math.round(value));
  }

  get findings(): Findings {
    return { violations: this.#violations, counts: this.#counts, maxima: this.#maxima };
  }
}
