/** The share of the time that the work for one upstream may take, and how many ms of it may come at once. */
const [share, burstMs] = [0.5, 2_000];
/** The longest pause, in ms. */
const pauseMaxMs = 1_000;

/** How much time is spent on what one upstream sends: more than a share of it would be time that others do not get. */
export class WorkShare {
  readonly #now: () => number;
  #spentMs = 0;
  #atMs = -Infinity;

  /** @param now in ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Does some work. @returns for how long to read nothing more, in ms */
  spend(work: () => void): number {
    const startMs = this.#now();
    work();
    const endMs = this.#now();
    this.#spentMs = Math.max(0, this.#spentMs - share * (endMs - this.#atMs)) + (endMs - startMs);
    this.#atMs = endMs;
    return Math.min(pauseMaxMs, Math.max(0, this.#spentMs - burstMs) / share);
  }
}
