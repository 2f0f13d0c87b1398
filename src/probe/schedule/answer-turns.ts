/** How long one turn of the event loop may go on with the answers of nodes, in ms. */
const turnMs = 1;
/** At most so many answers that waited are taken in one turn. */
const perTurnMax = 16;
/**
 * So many turns of the event loop pass between two of these, if more wait: libuv accepts one new connection in each.
 */
const restingTurns = 8;
/** The rest takes at most so many times as long as the answers took: however busy the rest is, they get their share. */
const restingShare = 3;

/** Callbacks by what they take turns with, oldest first. The first key is the next one. */
type Lanes = Map<string, (() => void)[]>;

/**
 * Shares the event loop between checks and the answers of nodes, and between the answers of clusters: what is too much
 * for one turn of the event loop waits for later ones, and clusters take turns. So a check, or the answer of another
 * cluster, waits for a few ms of a cluster with many members, not for all of them.
 */
export class AnswerTurns {
  readonly #now: () => number;
  readonly #configured: Lanes = new Map();
  readonly #listed: Lanes = new Map();
  /** When this turn of the event loop took its first answer; `null` before. */
  #beganMs: number | null = null;
  #isScheduled = false;

  /** @param now the monotonic clock, in ms */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Waits until an answer may be read and recorded: not at all, unless this turn of the event loop had many.
   * @param isConfigured whether the answer is from an address of the configuration. These come first: lists may add any
   * number of others
   */
  async next(cluster: string, isConfigured: boolean): Promise<void> {
    this.#schedule(1);
    if (!this.#isAnyWaiting && this.#hasTime()) return;
    await new Promise<void>((resolve) => {
      const lanes = isConfigured ? this.#configured : this.#listed;
      const waiting = lanes.get(cluster);
      if (waiting === undefined) lanes.set(cluster, [resolve]);
      else waiting.push(resolve);
    });
  }

  get #isAnyWaiting(): boolean {
    return this.#configured.size + this.#listed.size > 0;
  }

  #hasTime(): boolean {
    const nowMs = this.#now();
    this.#beganMs ??= nowMs;
    return nowMs - this.#beganMs < turnMs;
  }

  /** Takes answers in callbacks of their own: what follows from one ends before the next, so that its time counts. */
  #schedule(answers: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#beganMs = null;
    });
    for (let taken = 0; taken < answers; taken += 1) setImmediate(() => this.#take());
    setImmediate(() => {
      const nowMs = this.#now();
      const tookMs = nowMs - (this.#beganMs ?? nowMs);
      this.#rest(this.#isAnyWaiting ? restingTurns : 0, nowMs + restingShare * tookMs);
    });
  }

  #rest(turns: number, untilMs: number): void {
    if (turns > 0 && this.#now() < untilMs) {
      setImmediate(() => this.#rest(turns - 1, untilMs));
      return;
    }
    this.#isScheduled = false;
    this.#beganMs = null;
    if (this.#isAnyWaiting) this.#schedule(perTurnMax);
  }

  #take(): void {
    const lanes = this.#configured.size > 0 ? this.#configured : this.#listed;
    const [next] = lanes;
    if (next === undefined || !this.#hasTime()) return;
    const [cluster, waiting] = next;
    const resolve = waiting.shift();
    lanes.delete(cluster);
    if (waiting.length > 0) lanes.set(cluster, waiting);
    resolve?.();
  }
}
