/** How old the value may be, in ms: the counts of workers come by messages. */
const validMs = 5_000;

/** A value that takes a moment to read, at hand without waiting: as it was some seconds ago. */
export class RecentValue<Value> {
  readonly #read: () => Promise<Value>;
  readonly #now: () => number;
  #value: Value;
  /** When the last reading was begun, in ms. */
  #readAtMs = -Infinity;

  /**
   * @param first the value before the first reading has ended
   * @param read may reject: then what was known stays, and is read again
   * @param now milliseconds of a monotonic clock
   */
  constructor(first: Value, read: () => Promise<Value>, now: () => number) {
    this.#value = first;
    this.#read = read;
    this.#now = now;
  }

  /** The value as it is known. Reads it again if that is due. */
  get current(): Value {
    const nowMs = this.#now();
    if (nowMs - this.#readAtMs >= validMs) {
      this.#readAtMs = nowMs;
      void this.#read().then(
        (value) => (this.#value = value),
        () => {},
      );
    }
    return this.#value;
  }
}
