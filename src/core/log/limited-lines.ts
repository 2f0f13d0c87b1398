import type { Logger } from "./logger.ts";

type Level = "info" | "warn" | "error";

/** Which lines are limited, and how. */
export interface LineLimit {
  /** What the lines are about, for the line that replaces those left out, such as `hints`. */
  readonly what: string;
  /** The level of that line. */
  readonly level: Level;
  /** How many lines are written in each period. */
  readonly max: number;
  readonly periodMs: number;
  /** More fields of that line. */
  readonly fields?: object;
}

/** A line without its fields. */
interface Line {
  readonly level: Level;
  readonly text: string;
  readonly count?: number;
}

/** Log lines of one kind: a bounded number in each period, and then one that says how many more there were. */
export class LimitedLines {
  readonly #log: Logger;
  readonly #limit: LineLimit;
  #timer: NodeJS.Timeout | null = null;
  #lines = 0;
  #omitted = 0;

  constructor(log: Logger, limit: LineLimit) {
    this.#log = log;
    this.#limit = limit;
  }

  /**
   * Writes a line, or counts it.
   * @param line `count` is how many events it stands for: 1 by default
   * @param fields called only if the line is written
   */
  write({ level, text, count = 1 }: Line, fields: () => object): void {
    this.#timer ??= setTimeout(() => this.end(), this.#limit.periodMs).unref();
    this.#lines += 1;
    if (this.#lines <= this.#limit.max) this.#log[level](fields(), text);
    else this.#omitted += count;
  }

  /** Ends the period now: logs how many events were left out. */
  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const omitted = this.#omitted;
    this.#timer = null;
    this.#lines = 0;
    this.#omitted = 0;
    if (omitted === 0) return;
    const { what, level, periodMs, fields } = this.#limit;
    const seconds = periodMs / 1_000;
    const text = `${what}: … and ${omitted.toLocaleString("en-US")} more in ${seconds} s`;
    this.#log[level]({ omitted, span_s: seconds, ...fields }, text);
  }
}
