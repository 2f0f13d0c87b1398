import { uptime } from "node:os";

/**
 * Our clock: monotonic milliseconds that also count the time that the monotonic clock leaves out (suspend, migration). That time is
 * found by comparing the monotonic clock with boot time, never with the wall clock, and is added, so that all evidence is older by it
 * (design.md, rule 1). A stall of this process is in the monotonic time already: it is reported and not added. It never runs backwards.
 */
export class Clock {
  readonly #monotonic: () => number;
  readonly #boot: () => number;
  readonly #wall: () => number;
  #beatMs: number;
  readonly #onGap: (gap: ClockGap) => void;
  #addedMs = 0;
  /** When the next beat is due, on the monotonic clock. */
  #dueMs: number;
  /** Boot time minus monotonic time: what of it was added so far. */
  #bootAheadMs: number;
  /** Wall minus monotonic time as last seen. */
  #wallAheadMs: number;
  /** When the last gap was found, on the monotonic clock. */
  #gapAtMs = -Infinity;

  constructor(options: ClockOptions) {
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#boot = options.boot ?? bootMs;
    this.#wall = options.wall ?? (() => Date.now());
    this.#beatMs = options.beatMs;
    this.#onGap = options.onGap;
    const now = this.#monotonic();
    this.#dueMs = now + this.#beatMs;
    this.#bootAheadMs = this.#boot() - now;
    this.#wallAheadMs = this.#wall() - now;
  }

  /** The time now in ms. Whoever reads first after a gap finds it, so no answer is given from before it. */
  now(): number {
    const monotonic = this.#monotonic();
    const wallAhead = this.#wall() - monotonic;
    // Boot time costs a system call, so between beats it is read only where the wall clock gives a reason to. The reason proves nothing:
    // a wall clock that is set changes nothing.
    const wallJumped = Math.abs(wallAhead - this.#wallAheadMs) > leastGapMs;
    if (wallJumped) this.#wallAheadMs = wallAhead;
    if (wallJumped || monotonic - this.#dueMs > this.#beatMs) this.#findGap(monotonic);
    return monotonic + this.#addedMs;
  }

  /** Wall time in ms, for people. */
  wall(): number {
    return this.#wall();
  }

  /** What this clock shows, for the clock of another process that goes by it. */
  read(): ClockReading {
    const monotonicMs = this.#monotonic();
    // Whoever goes by this clock may have found a gap already: a reading that lacks it would take it back.
    this.#findGap(monotonicMs);
    return { monotonicMs, addedMs: this.#addedMs };
  }

  /**
   * Goes by the clock of another process on the same monotonic axis: what that one has added counts here. A reading from
   * before a gap that was found here knows nothing of it, and says nothing. Steps back at most by what the two saw of one gap differently.
   */
  syncTo({ monotonicMs, addedMs }: ClockReading): void {
    if (monotonicMs >= this.#gapAtMs) this.#addedMs = addedMs;
  }

  /** Expects beats at another pace from now on. */
  setTickInterval(beatMs: number): void {
    this.#beatMs = beatMs;
    this.tick();
  }

  /** The loop turns: to be called at the pace that is expected. */
  tick(): void {
    const monotonic = this.#monotonic();
    this.#findGap(monotonic);
    this.#dueMs = monotonic + this.#beatMs;
    this.#wallAheadMs = this.#wall() - monotonic;
  }

  /** State is settled before `onGap`, which reads this clock again. */
  #findGap(monotonic: number): void {
    const ahead = this.#boot() - monotonic;
    const unseen = ahead - this.#bootAheadMs;
    const lateMs = monotonic - this.#dueMs;
    // What is less than a reading's error stays open: the next readings add to it, so many short gaps are found too.
    const addedMs = unseen > leastGapMs ? unseen : 0;
    const stalledMs = lateMs > this.#beatMs ? lateMs : 0;
    if (Math.abs(unseen) > leastGapMs) this.#bootAheadMs = ahead;
    if (addedMs === 0 && stalledMs === 0) return;
    this.#addedMs += addedMs;
    if (addedMs > 0) this.#gapAtMs = monotonic;
    this.#dueMs = monotonic + this.#beatMs;
    this.#onGap({ addedMs, stalledMs });
  }
}

/** Time in which this process did nothing, in ms. */
export interface ClockGap {
  /** What the monotonic clock left out, and every age now has on top. */
  readonly addedMs: number;
  /** How late the loop was; the monotonic clock has counted it. */
  readonly stalledMs: number;
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
  /** Called for each gap: all nodes are to be probed at once. Must not throw and must not wait. */
  readonly onGap: (gap: ClockGap) => void;
  readonly monotonic?: () => number;
  /** Boot time in ms. A reading may be up to `leastGapMs` behind the truth. */
  readonly boot?: () => number;
  readonly wall?: () => number;
}

/** Gaps up to this are not told apart from the error of a reading: boot time comes in whole seconds on some systems, else in 10 ms. */
const leastGapMs = 1_000;

/** Boot time in ms; where the system does not state it NaN, by which no gap is ever found. */
function bootMs(): number {
  try {
    return uptime() * 1_000;
  } catch {
    return Number.NaN;
  }
}

/** Where this process's monotonic time begins, in ms of the machine's own: another process can tell from it what our instants mean. */
export function originOfClock(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.now();
}
