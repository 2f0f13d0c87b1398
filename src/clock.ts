/**
 * Our clock: monotonic milliseconds that also count the time in which nothing ran. When the loop wakes more than an
 * interval late, or wall time runs ahead of monotonic time (suspend, migration), the gap is added, so that all evidence
 * is older by it (design.md, rule 1). It never runs backwards.
 */
export class Clock {
  readonly #monotonic: () => number;
  readonly #wall: () => number;
  #beatMs: number;
  readonly #onGap: (gapMs: number) => void;
  #addedMs = 0;
  /** When the next beat is due, on the monotonic clock. */
  #dueMs: number;
  /** Wall minus monotonic time as last seen. */
  #aheadMs: number;

  constructor(options: ClockOptions) {
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#wall = options.wall ?? (() => Date.now());
    this.#beatMs = options.beatMs;
    this.#onGap = options.onGap;
    const now = this.#monotonic();
    this.#dueMs = now + this.#beatMs;
    this.#aheadMs = this.#wall() - now;
  }

  /** The time now in ms. Whoever reads first after a gap finds it, so no answer is given from before it. */
  now(): number {
    const monotonic = this.#monotonic();
    const late = monotonic - this.#dueMs;
    const ahead = this.#wall() - monotonic;
    const jumped = ahead - this.#aheadMs;
    // Wall time drifts and is set back; only a leap ahead of what was last seen counts. It is taken note of before anyone is
    // told of it, for whoever is told reads this clock again.
    if (jumped > jumpMs || jumped < 0) this.#aheadMs = ahead;
    if (late > this.#beatMs || jumped > jumpMs) this.#addGap(monotonic, (late > this.#beatMs ? late : 0) + (jumped > jumpMs ? jumped : 0));
    return monotonic + this.#addedMs;
  }

  /** Wall time in ms, for people. */
  wall(): number {
    return this.#wall();
  }

  /** Expects beats at another pace from now on. */
  beatEvery(beatMs: number): void {
    this.#beatMs = beatMs;
    this.beat();
  }

  /** The loop turns: to be called at the pace that is expected. */
  beat(): void {
    const now = this.now();
    this.#dueMs = now - this.#addedMs + this.#beatMs;
    this.#aheadMs = this.#wall() - this.#monotonic();
  }

  #addGap(monotonic: number, gapMs: number): void {
    this.#addedMs += gapMs;
    this.#dueMs = monotonic + this.#beatMs;
    this.#onGap(gapMs);
  }
}

export interface ClockOptions {
  /** How often `beat` is called, in ms: the shortest probe interval. */
  readonly beatMs: number;
  /** Told of each gap, in ms: all nodes are to be asked at once. Must not throw and must not wait. */
  readonly onGap: (gapMs: number) => void;
  readonly monotonic?: () => number;
  readonly wall?: () => number;
}

/** Smaller leaps of wall time are corrections of the clock. */
const jumpMs = 1_000;
