/** The most changes that a track keeps; further ones are dropped. */
const changesMax = 10_000;

/** A time in which all samples had the same value. Instants are in ms of one monotonic clock. */
export interface SampleSegment<T> {
  readonly value: T;
  /** When the first sample with this value arrived. */
  readonly fromMs: number;
  /** When the last sample with another value arrived; `null` for the first segment. */
  readonly afterMs: number | null;
}

/** Samples of one thing over time. Keeps only the changes, and between which two samples each happened. */
export class Track<T extends string> {
  readonly #segments: SampleSegment<T>[] = [];
  #lastAtMs: number | null = null;

  get segments(): readonly SampleSegment<T>[] {
    return this.#segments;
  }

  /** Adds a sample. @param atMs when it arrived */
  add(atMs: number, value: T): void {
    if (this.#segments.at(-1)?.value !== value && this.#segments.length < changesMax)
      this.#segments.push({ value, fromMs: atMs, afterMs: this.#lastAtMs });
    this.#lastAtMs = atMs;
  }
}

/** The first change to a value that satisfies the condition, at or after an instant; `null` if there is none. */
export function firstChange<T>(
  segments: readonly SampleSegment<T>[],
  sinceMs: number,
  isWanted: (value: T) => boolean,
): SampleSegment<T> | null {
  return segments.find(({ fromMs, value }) => fromMs >= sinceMs && isWanted(value)) ?? null;
}
