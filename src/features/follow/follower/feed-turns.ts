/** How much work on what upstreams send one turn of the event loop has at most, in ms. */
const turnMs = 4;
/** The share of the time that this work may take for all upstreams together, and how many ms of it may come at once. */
const all = { share: 0.5, mostMs: 50 } as const;
/**
 * An upstream that takes more than this share of the time, and so many ms beyond it, is dropped. What it takes to begin is
 * not counted: thousands of clusters come in full then.
 */
const one = { share: 0.25, mostMs: 10_000 } as const;

/** What waits for a turn. */
interface Waiting {
  readonly upstream: UpstreamWork;
  readonly pass: () => void;
}

/** What turns depend on. Replaced in tests. */
export interface TurnsClock {
  /** In ms. */
  readonly now: () => number;
  /** Runs something in another turn of the event loop, after so many ms. */
  readonly later: (run: () => void, ms: number) => void;
}

/** Time that was taken, of which a share is given back as time goes by. */
class TakenTime {
  readonly #share: number;
  #takenMs = 0;
  #atMs = -Infinity;

  constructor(share: number) {
    this.#share = share;
  }

  /** How much there is, in ms. */
  at(nowMs: number): number {
    this.#takenMs = Math.max(0, this.#takenMs - this.#share * (nowMs - this.#atMs));
    this.#atMs = nowMs;
    return this.#takenMs;
  }

  add(ms: number, nowMs: number): void {
    this.#takenMs = this.at(nowMs) + ms;
  }
}

/** What the work for one upstream has taken, on all of its streams. */
export class UpstreamWork {
  readonly recent: TakenTime = new TakenTime(all.share);
  readonly counted: TakenTime = new TakenTime(one.share);
}

/**
 * Shares the event loop between what upstreams send and everything else: the work on it comes in short pieces, and takes
 * half of the time at most, whatever the number of upstreams. Of those that wait, the one that has taken least is next.
 */
export class FeedTurns {
  readonly #clock: TurnsClock;
  readonly #recent = new TakenTime(all.share);
  readonly #waiting = new Set<Waiting>();
  /** Who works on, while others wait. */
  #holder: UpstreamWork | null = null;
  /** What was taken in this turn, in ms. */
  #turnMs = 0;
  #isScheduled = false;

  constructor(clock: TurnsClock = loopClock) {
    this.#clock = clock;
  }

  /** @returns `null`: go on at once; else what to wait for */
  wait(upstream: UpstreamWork): Promise<void> | null {
    const isFree = this.#waiting.size === 0 || this.#holder === upstream;
    if (isFree && this.#turnMs < turnMs && this.#pauseMs() === 0) return null;
    return new Promise((resolve) => {
      if (this.#holder === upstream) this.#holder = null;
      this.#waiting.add({ upstream, pass: resolve });
      this.#schedule(this.#pauseMs());
    });
  }

  /**
   * Does a piece of work, and counts what it takes.
   * @param isBeginning whether it is part of what the upstream has to send once
   */
  spend<T>(upstream: UpstreamWork, isBeginning: boolean, work: () => T): T {
    const startMs = this.#clock.now();
    try {
      return work();
    } finally {
      const nowMs = this.#clock.now();
      const ms = nowMs - startMs;
      for (const taken of [this.#recent, upstream.recent]) taken.add(ms, nowMs);
      if (!isBeginning) upstream.counted.add(ms, nowMs);
      this.#turnMs += ms;
      this.#schedule(0);
    }
  }

  /** Whether an upstream takes more time than one may. */
  isTooMuch({ counted }: UpstreamWork): boolean {
    return counted.at(this.#clock.now()) > one.mostMs;
  }

  /** For how long nobody goes on, in ms. */
  #pauseMs(): number {
    return Math.ceil(Math.max(0, this.#recent.at(this.#clock.now()) - all.mostMs) / all.share);
  }

  #schedule(ms: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#clock.later(() => this.#next(), ms);
  }

  /** Another turn of the event loop: one of those that wait goes on. */
  #next(): void {
    this.#isScheduled = false;
    this.#turnMs = 0;
    this.#holder = null;
    const [first, ...others] = this.#waiting;
    if (first === undefined) return;
    const pauseMs = this.#pauseMs();
    if (pauseMs > 0) return this.#schedule(pauseMs);
    const nowMs = this.#clock.now();
    const next = others.reduce(
      (least, other) => (other.upstream.recent.at(nowMs) < least.upstream.recent.at(nowMs) ? other : least),
      first,
    );
    this.#waiting.delete(next);
    this.#holder = next.upstream;
    next.pass();
    this.#schedule(0);
  }
}

const loopClock: TurnsClock = {
  now: () => performance.now(),
  later: (run, ms) => void (ms > 0 ? setTimeout(run, ms) : setImmediate(run)),
};
