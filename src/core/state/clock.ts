import { uptime } from "node:os";
import type { BootClock } from "./boot-clock.ts";

/** Time during which this process did nothing, in ms. */
export interface ClockGap {
  /** What the monotonic clock left out; every age now includes it. */
  readonly addedMs: number;
  /** How late the event loop was; the monotonic clock has counted it. */
  readonly stalledMs: number;
}

/** A clock at one instant. */
export interface ClockReading {
  readonly monotonicMs: number;
  /** The sum of all gaps that were added so far. */
  readonly addedMs: number;
}

/** The instant of a reading, in ms of rolecall's clock. */
export function instantOf({ monotonicMs, addedMs }: ClockReading): number {
  return monotonicMs + addedMs;
}

/** Settings and time sources of a clock. The sources are replaced in tests. */
export interface ClockOptions {
  /** How often `tick` is called, in ms: the shortest probe interval. Infinity where a late event loop is no gap. */
  readonly tickIntervalMs: number;
  /** Called for each gap: all nodes should be probed at once. Must not throw and must not wait. */
  readonly onGap: (gap: ClockGap) => void;
  readonly monotonic?: () => number;
  /** Time since boot in ms. A reading may be up to `gapMinMs` behind the true value. */
  readonly boot?: () => number;
  /** Ms since the epoch. */
  readonly wall?: () => number;
}

/**
 * Gaps up to this, in ms, cannot be told from the error of a reading: boot time has a resolution of whole seconds on
 * some systems and of 10 ms on the others.
 */
const gapMinMs = 1_000;

/**
 * "rolecall's clock" of all comments: monotonic time that includes what the machine's monotonic clock leaves out
 * (suspend, migration). Instants in snapshots, verdicts and outcomes are in ms of it. It finds the time left out by
 * comparing the monotonic clock with the time since boot, never with the wall clock, and adds it, so that all evidence
 * becomes older by it (rule 1). A stall of this process is part of monotonic time already: it is reported and not
 * added. The clock never runs backwards.
 *
 * `observe`, `tick` and `observeReading` look for gaps and may report one. `now` and `wall` only read.
 */
export class Clock {
  readonly #monotonic: () => number;
  readonly #boot: () => number;
  readonly #wall: () => number;
  readonly #onGap: (gap: ClockGap) => void;
  #tickIntervalMs: number;
  #addedMs = 0;
  /** When the next tick is due, in monotonic ms. */
  #tickDueMs: number;
  /** Boot time minus monotonic time when the last gap was added. */
  #bootOffsetMs: number;
  /** Wall time minus monotonic time when last compared. */
  #wallOffsetMs: number;
  /** When the last gap was found, in monotonic ms. */
  #lastGapMs = -Infinity;

  constructor(options: ClockOptions) {
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#boot = options.boot ?? bootMs;
    this.#wall = options.wall ?? (() => Date.now());
    this.#tickIntervalMs = options.tickIntervalMs;
    this.#onGap = options.onGap;
    const monotonicMs = this.#monotonic();
    this.#tickDueMs = monotonicMs + this.#tickIntervalMs;
    this.#bootOffsetMs = this.#boot() - monotonicMs;
    this.#wallOffsetMs = this.#wall() - monotonicMs;
  }

  /** The present instant, in ms. Only reads: gaps that nobody has observed yet are missing. */
  now(): number {
    return this.#monotonic() + this.#addedMs;
  }

  /** Returns the clock that counts since the machine booted. @param id of the boot; `null` if unknown */
  bootClock(id: string | null): BootClock {
    return { id, offsetMs: this.#boot() - this.now() };
  }

  /** Wall time in ms since the epoch, for people. */
  wall(): number {
    return this.#wall();
  }

  /**
   * Looks for a gap and returns the present instant in ms. Call it wherever a request, a probe or an outcome comes in:
   * the first event after a gap finds it, so no answer uses the time before it.
   */
  observe(): number {
    const monotonicMs = this.#monotonic();
    const wallOffsetMs = this.#wall() - monotonicMs;
    // Reading boot time costs a system call. Between ticks it is read only if the wall clock jumped or a tick is late.
    // A jump proves nothing: setting the wall clock changes nothing.
    const hasWallJumped = Math.abs(wallOffsetMs - this.#wallOffsetMs) > gapMinMs;
    if (hasWallJumped) this.#wallOffsetMs = wallOffsetMs;
    if (hasWallJumped || monotonicMs - this.#tickDueMs > this.#tickIntervalMs) this.#detectGap(monotonicMs);
    return monotonicMs + this.#addedMs;
  }

  /**
   * Looks for a gap and returns what the clock of another process needs to follow this one. That process may have found
   * a gap already: a reading without it would take it back.
   */
  observeReading(): ClockReading {
    const monotonicMs = this.#monotonic();
    this.#detectGap(monotonicMs);
    return { monotonicMs, addedMs: this.#addedMs };
  }

  /**
   * Follows the clock of another process on the same monotonic axis: the gaps that it added count here. A reading older
   * than the last gap found here is ignored. The time steps back at most by the difference between the two measurements
   * of one gap.
   */
  syncTo({ monotonicMs, addedMs }: ClockReading): void {
    // A gap that the reading has counted must not be found here later, and added again.
    this.#detectGap(this.#monotonic());
    if (monotonicMs >= this.#lastGapMs) this.#addedMs = addedMs;
  }

  /** Expects ticks at another interval, in ms, from now on. */
  setTickInterval(tickIntervalMs: number): void {
    this.#tickIntervalMs = tickIntervalMs;
    this.tick();
  }

  /** Looks for a gap. Must be called at the tick interval: a late call is a stall of the event loop. */
  tick(): void {
    const monotonicMs = this.#monotonic();
    this.#detectGap(monotonicMs);
    this.#tickDueMs = monotonicMs + this.#tickIntervalMs;
    this.#wallOffsetMs = this.#wall() - monotonicMs;
  }

  /** Updates all fields before it calls `onGap`, which reads this clock again. */
  #detectGap(monotonicMs: number): void {
    const bootOffsetMs = this.#boot() - monotonicMs;
    const missingMs = bootOffsetMs - this.#bootOffsetMs;
    const lateMs = monotonicMs - this.#tickDueMs;
    // What is less than a reading's error stays open: later readings add to it, so many short gaps are found too.
    const addedMs = missingMs > gapMinMs ? missingMs : 0;
    const stalledMs = lateMs > this.#tickIntervalMs ? lateMs : 0;
    if (Math.abs(missingMs) > gapMinMs) this.#bootOffsetMs = bootOffsetMs;
    if (addedMs === 0 && stalledMs === 0) return;
    this.#addedMs += addedMs;
    if (addedMs > 0) this.#lastGapMs = monotonicMs;
    this.#tickDueMs = monotonicMs + this.#tickIntervalMs;
    this.#onGap({ addedMs, stalledMs });
  }
}

/**
 * The zero of `performance.now()` in this process, in ms of the machine's monotonic clock. Another process needs it to
 * convert the instants of this one.
 */
export function monotonicOriginMs(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.now();
}

/** Time since boot in ms; NaN if the system does not report it: then no gap is ever found. */
function bootMs(): number {
  try {
    return uptime() * 1_000;
  } catch {
    return Number.NaN;
  }
}
