/** Requests of one stream that are read at once, and how long the next ones wait then, in ms. */
const turn = { requests: 64, waitMs: 50 } as const;
/** From how many bytes on a request is large. One with the names of 300 pools has some 10 kB. */
const largeBytes = 16_384;
/** For how long a large request keeps the next one waiting, in ms for each byte: three times as long as it takes. */
const msPerByte = 15e-6;

/** Large requests of all streams, one after another, with pauses in which checks are answered. */
export class LargeRequests {
  readonly #waiting = new Set<{ readonly bytes: number; readonly pass: () => void }>();
  #timer: NodeJS.Timeout | null = null;

  /**
   * Passes a request on when it is its turn.
   * @returns what takes it back
   */
  add(bytes: number, pass: () => void): () => void {
    const request = { bytes, pass };
    this.#waiting.add(request);
    if (this.#timer === null) this.#next();
    return () => void this.#waiting.delete(request);
  }

  #next(): void {
    this.#timer = null;
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#waiting.delete(first);
    this.#timer = setTimeout(() => this.#next(), Math.max(1, first.bytes * msPerByte));
    first.pass();
  }
}

/**
 * Lets the requests of one stream wait, so that checks are answered while a client sends many or large ones. At most
 * one waits: the next one is not read before.
 */
export class RequestTurns {
  readonly #large: LargeRequests;
  #left: number = turn.requests;
  #timer: NodeJS.Timeout | null = null;
  #pass: (() => void) | null = null;
  #takeBack: () => void = () => {};

  constructor(large: LargeRequests) {
    this.#large = large;
  }

  /** Passes a request on when it is its turn. */
  take(bytes: number, pass: () => void): void {
    this.#left -= 1;
    this.#timer ??= setTimeout(() => this.#begin(), turn.waitMs);
    if (bytes >= largeBytes) this.#takeBack = this.#large.add(bytes, pass);
    else if (this.#left > 0) pass();
    else this.#pass = pass;
  }

  /** The stream has ended: what waits is dropped. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#takeBack();
    this.#pass = null;
  }

  #begin(): void {
    this.#timer = null;
    this.#left = turn.requests;
    const pass = this.#pass;
    this.#pass = null;
    pass?.();
  }
}
