/** How long one turn of the event loop may go on with what connections have sent in advance, in ms. */
const turnMsDefault = 1;
/**
 * So many turns of the event loop pass between two of these, if there is more: libuv accepts one new connection in
 * each.
 */
const restingTurns = 8;
/** So many bytes of all connections may wait. */
const heldMax = 16 * 1024 * 1024;

/** A connection that has bytes to read on. */
export interface WaitingReader {
  /** Reads on a little. @returns whether it has more to read, and may */
  readOn(): boolean;
}

/**
 * Shares the event loop between connections that send many requests at once: each reads on in turn, for
 * a millisecond of each turn of the event loop. So a check on another connection waits for that time, not for all of
 * them.
 */
export class ReadingTurns {
  readonly #readers = new Set<WaitingReader>();
  readonly #now: () => number;
  readonly #turnMs: number;
  #held = 0;
  #isScheduled = false;
  #rest = 0;

  /**
   * @param now the monotonic clock, in ms
   * @param turnMs how long one turn of the event loop may go on, in ms. 0: one connection reads on in each, because the
   * work begins after it has
   */
  constructor(now: () => number = () => performance.now(), turnMs: number = turnMsDefault) {
    this.#now = now;
    this.#turnMs = turnMs;
  }

  /** Counts bytes that wait. @returns `false`, and counts nothing, if all connections have too many */
  hold(bytes: number): boolean {
    if (this.#held + bytes > heldMax) return false;
    this.#held += bytes;
    return true;
  }

  /** Counts bytes that wait no longer. */
  release(bytes: number): void {
    this.#held -= bytes;
  }

  /** Lets a connection read on soon. Does nothing if it waits for its turn already. */
  add(reader: WaitingReader): void {
    this.#readers.add(reader);
    this.#schedule();
  }

  /** Removes a connection that has nothing to read any more. */
  remove(reader: WaitingReader): void {
    this.#readers.delete(reader);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    if (this.#rest > 0) this.#rest -= 1;
    else this.#readOn();
    if (this.#readers.size > 0 || this.#rest > 0) this.#schedule();
  }

  #readOn(): void {
    const end = this.#now() + this.#turnMs;
    for (const reader of this.#readers) {
      this.#readers.delete(reader);
      // A set passes what is added meanwhile to the end of its iteration: the connections take turns.
      if (reader.readOn()) this.#readers.add(reader);
      if (this.#now() >= end) break;
    }
    if (this.#now() >= end) this.#rest = restingTurns;
  }
}

/** The turns of this process: all its listeners share one event loop. */
export const ownTurns: ReadingTurns = new ReadingTurns();
