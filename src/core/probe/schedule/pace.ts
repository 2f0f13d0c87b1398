import type { CancelTimer, SetTimer } from "../../cluster/timer.ts";

/** Whether a probe is the first of what it asks, which a start waits for, or asks again. */
export type PaceTurn = "first" | "later";

/** The limits of a pace, and what it depends on. */
export interface PaceOptions {
  /** How many run at the same time. */
  readonly max: number;
  /** How long one counts as running, in ms. */
  readonly slotMs: number;
  readonly setTimer: SetTimer;
  /** Whether answers wait for this process: probes seem slow then, and more of them would make it worse. */
  readonly isBehind: () => boolean;
}

/** So many times the usual time a probe counts as running while answers wait. */
const behindSlots = 5;

/**
 * Bounds how many probes are begun outside the schedule at the same time, in all clusters together: the first round,
 * and rounds at once. Without a bound those of a thousand clusters keep this process from seeing the answers in time. A
 * probe that takes long makes way for the next one after `slotMs`: nodes that are silent delay no others for long.
 */
export class Pace {
  readonly #max: number;
  readonly #slotMs: number;
  readonly #setTimer: SetTimer;
  readonly #isBehind: () => boolean;
  readonly #waiting: { readonly [Turn in PaceTurn]: (() => void)[] } = { first: [], later: [] };
  #running = 0;

  constructor({ max, slotMs, setTimer, isBehind }: PaceOptions) {
    this.#max = max;
    this.#slotMs = slotMs;
    this.#setTimer = setTimer;
    this.#isBehind = isBehind;
  }

  /**
   * Runs a task, at once if possible, else as soon as earlier ones have made way.
   * @param task must not reject
   * @param turn those of `later` wait for all of `first`
   * @returns resolves when the task has ended
   */
  run(task: () => Promise<unknown>, turn: PaceTurn): Promise<void> {
    if (this.#running < this.#max) return this.#runNow(task);
    return new Promise((resolve) => {
      this.#waiting[turn].push(() => void this.#runNow(task).then(resolve));
    });
  }

  async #runNow(task: () => Promise<unknown>): Promise<void> {
    this.#running += 1;
    let cancel: CancelTimer | null = null;
    let slots = 0;
    const release = (): void => {
      if (cancel === null) return;
      cancel();
      cancel = null;
      this.#running -= 1;
      (this.#waiting.first.shift() ?? this.#waiting.later.shift())?.();
    };
    const endSlot = (): void => {
      slots += 1;
      if (slots < behindSlots && this.#isBehind()) cancel = this.#setTimer(endSlot, this.#slotMs);
      else release();
    };
    cancel = this.#setTimer(endSlot, this.#slotMs);
    await task();
    release();
  }
}
