import type { CancelTimer } from "../../cluster/timer.ts";
import { setSystemTimer } from "./system-timer.ts";

/** Timers that end within the same slot, in ms, are called together, at its end. */
const slotMs = 40;
/** A shorter timer, in ms, would be late by too large a part of it, and a longer one is rare: they have one of their own. */
const [shortestMs, longestMs] = [500, 60_000];
/** So many timers of a slot are called in one turn of the event loop, so that checks do not wait for a thousand probes. */
const perTurnMax = 64;

/** The timers that end together. */
interface Slot {
  readonly callbacks: Set<() => void>;
  cancel: CancelTimer;
}

/**
 * Sets timers that end up to {@link slotMs} later than asked, so that several end together. A probe that wakes the event
 * loop alone costs several times one that goes out with others. Intervals that vary by chance remain spread.
 */
export class TimerWheel {
  readonly #now: () => number;
  readonly #setTimer: typeof setSystemTimer;
  /** By the number of the slot since the zero of the clock. */
  readonly #slots = new Map<number, Slot>();

  /**
   * @param now a monotonic clock, in ms
   * @param setTimer sets the timer of a slot
   */
  constructor(now: () => number = () => performance.now(), setTimer: typeof setSystemTimer = setSystemTimer) {
    this.#now = now;
    this.#setTimer = setTimer;
  }

  /** As {@link setSystemTimer}; a delay from 500 ms to a minute is up to 40 ms longer. */
  readonly setTimer = (callback: () => void, delayMs: number): CancelTimer => {
    if (!isInSlots(delayMs)) return this.#setTimer(callback, delayMs);
    const nowMs = this.#now();
    const number = Math.ceil((nowMs + delayMs) / slotMs);
    const slot = this.#slots.get(number) ?? this.#open(number, nowMs);
    // A callback that is set twice is called twice.
    const entry = (): void => callback();
    slot.callbacks.add(entry);
    return () => {
      if (slot.callbacks.delete(entry) && slot.callbacks.size === 0 && this.#slots.get(number) === slot)
        this.#close(number, slot);
    };
  };

  /** How much later than asked a timer may end because it has a slot, in ms. */
  readonly lateMs = (delayMs: number): number => (isInSlots(delayMs) ? slotMs : 0);

  #open(number: number, nowMs: number): Slot {
    const slot: Slot = { callbacks: new Set(), cancel: this.#setEnd(number, nowMs) };
    this.#slots.set(number, slot);
    return slot;
  }

  #close(number: number, slot: Slot): void {
    this.#slots.delete(number);
    slot.cancel();
  }

  #setEnd(number: number, nowMs: number): CancelTimer {
    return this.#setTimer(() => this.#end(number), number * slotMs - nowMs);
  }

  #end(number: number): void {
    const slot = this.#slots.get(number);
    if (slot === undefined) return;
    const nowMs = this.#now();
    // The timers of Node.js may end slightly early.
    if (nowMs < number * slotMs) {
      slot.cancel = this.#setEnd(number, nowMs);
      return;
    }
    this.#slots.delete(number);
    callTogether(slot.callbacks);
  }
}

function isInSlots(delayMs: number): boolean {
  return delayMs >= shortestMs && delayMs <= longestMs;
}

/** Calls functions and takes them out of the set. What is taken out meanwhile is not called. */
function callTogether(callbacks: Set<() => void>): void {
  let called = 0;
  for (const callback of callbacks) {
    if (called === perTurnMax) {
      setImmediate(() => callTogether(callbacks));
      return;
    }
    called += 1;
    callbacks.delete(callback);
    callSafely(callback);
  }
}

/** Calls a function. What it throws is thrown as it would be by a timer of its own, and costs no other timer. */
function callSafely(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    setImmediate(() => {
      throw error;
    });
  }
}
