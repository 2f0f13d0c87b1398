/** Lets a bounded number of log lines of one kind through in each period, and counts the others. */
export class LineLimit {
  readonly #max: number;
  readonly #periodMs: number;
  readonly #onOmitted: (count: number, periodMs: number) => void;
  #timer: NodeJS.Timeout | null = null;
  #lines = 0;
  #omitted = 0;

  /**
   * @param max lines in each period
   * @param onOmitted called at the end of a period in which lines were left out, with the number of events in them: one
   *   line may stand for several
   */
  constructor(max: number, periodMs: number, onOmitted: (count: number, periodMs: number) => void) {
    this.#max = max;
    this.#periodMs = periodMs;
    this.#onOmitted = onOmitted;
  }

  /** Counts one line, and returns whether it may be written. @param count how many events the line stands for */
  take(count: number = 1): boolean {
    this.#timer ??= setTimeout(() => this.end(), this.#periodMs).unref();
    this.#lines += 1;
    if (this.#lines <= this.#max) return true;
    this.#omitted += count;
    return false;
  }

  /** Ends the period now. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const omitted = this.#omitted;
    this.#timer = null;
    this.#lines = 0;
    this.#omitted = 0;
    if (omitted > 0) this.#onOmitted(omitted, this.#periodMs);
  }
}
