/** How far from its interval an asking may stray, so that those of many nodes do not fall together. */
const jitter = 0.1;

/** Repeats one asking: one at a time, the next an interval after the last began. */
export class PeriodicTask {
  readonly #ask: () => Promise<void>;
  readonly #pauseMs: () => number;
  readonly #clock: { readonly now: () => number; readonly random: () => number };
  #timer: NodeJS.Timeout | null = null;
  #isAsking = false;
  #underWay: Promise<void> = Promise.resolve();
  #isStopped = false;

  /**
   * @param ask must resolve, at its own deadline at the latest
   * @param pauseMs the interval, looked up after each asking, in ms
   */
  constructor(
    ask: () => Promise<void>,
    pauseMs: () => number,
    clock: { readonly now: () => number; readonly random: () => number },
  ) {
    this.#ask = ask;
    this.#pauseMs = pauseMs;
    this.#clock = clock;
  }

  /** Resolves when the asking that is under way, if one is, has ended. */
  get underWay(): Promise<void> {
    return this.#underWay;
  }

  /** Asks now, unless it is being asked, and goes on. */
  run(): void {
    if (!this.#isAsking && !this.#isStopped) this.#underWay = this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isAsking = true;
    const { now, random } = this.#clock;
    const beganMs = now();
    await this.#ask();
    this.#isAsking = false;
    if (this.#isStopped) return;
    const dueMs = beganMs + this.#pauseMs() * (1 + jitter * (2 * random() - 1));
    this.#timer = setTimeout(() => this.run(), Math.max(0, dueMs - now()));
  }
}
