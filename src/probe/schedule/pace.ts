import type { CancelTimer, SetTimer } from "../../cluster/timer.ts";

/**
 * Bounds how many probes are begun outside the schedule at the same time, in all clusters together: the first round,
 * and rounds at once. Without a bound those of a thousand clusters keep this process from seeing the answers in time. A
 * probe that takes long makes way for the next one after `slotMs`: nodes that are silent delay no others for long.
 */
export class Pace {
  readonly #max: number;
  readonly #slotMs: number;
  readonly #setTimer: SetTimer;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * @param max how many run at the same time
   * @param slotMs how long one counts as running, in ms
   */
  constructor(max: number, slotMs: number, setTimer: SetTimer) {
    this.#max = max;
    this.#slotMs = slotMs;
    this.#setTimer = setTimer;
  }

  /**
   * Runs a task, at once if possible, else as soon as earlier ones have made way.
   * @param task must not reject
   * @returns resolves when the task has ended
   */
  run(task: () => Promise<unknown>): Promise<void> {
    if (this.#running < this.#max) return this.#runNow(task);
    return new Promise((resolve) => {
      this.#waiting.push(() => void this.#runNow(task).then(resolve));
    });
  }

  async #runNow(task: () => Promise<unknown>): Promise<void> {
    this.#running += 1;
    let cancel: CancelTimer | null = null;
    const release = (): void => {
      if (cancel === null) return;
      cancel();
      cancel = null;
      this.#running -= 1;
      this.#waiting.shift()?.();
    };
    cancel = this.#setTimer(release, this.#slotMs);
    await task();
    release();
  }
}
