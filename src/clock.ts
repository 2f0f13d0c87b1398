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
  /** When the last gap was found, on the monotonic clock. */
  #gapAtMs = -Infinity;

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

  /** What this clock shows, for the clock of another process that goes by it. */
  read(): ClockReading {
    this.now();
    return { monotonicMs: this.#monotonic(), addedMs: this.#addedMs };
  }

  /**
   * Goes by the clock of another process on the same monotonic axis: what that one counts as slept through counts here. A reading from
   * before a gap that was found here knows nothing of it, and says nothing. Steps back at most by what the two saw of one gap differently.
   */
  follow({ monotonicMs, addedMs }: ClockReading): void {
    if (monotonicMs >= this.#gapAtMs) this.#addedMs = addedMs;
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
    this.#gapAtMs = monotonic;
    this.#dueMs = monotonic + this.#beatMs;
    this.#onGap(gapMs);
  }
}

/** A clock as it stood at one instant. */
export interface ClockReading {
  readonly monotonicMs: number;
  /** What was added to it so far for time in which nothing ran. */
  readonly addedMs: number;
}

export interface ClockOptions {
  /** How often `beat` is called, in ms: the shortest probe interval. Infinity where a late loop is no gap. */
  readonly beatMs: number;
  /** Told of each gap, in ms: all nodes are to be asked at once. Must not throw and must not wait. */
  readonly onGap: (gapMs: number) => void;
  readonly monotonic?: () => number;
  readonly wall?: () => number;
}

/** Smaller leaps of wall time are corrections of the clock. */
const jumpMs = 1_000;

/** Where this process's monotonic time begins, in ms of the machine's own: another process can tell from it what our instants mean. */
export function originOfClock(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.now();
}
