import { LineLimit } from "../events/log/line-limit.ts";
import type { Logger } from "../events/log/logger.ts";

/** At most so many mishaps are logged in each period: one that repeats itself does so with every probe. */
const linesMax = 5;
const periodMs = 60_000;

/**
 * Contains internal errors of what follows from an outcome (events, pushes, saving, probing), each of which is worth
 * less than the process. A node whose outcomes cannot be recorded becomes unfit once its evidence is too old.
 */
export class Mishaps {
  readonly #log: Logger;
  readonly #lines: LineLimit;

  constructor(log: Logger) {
    this.#log = log;
    this.#lines = new LineLimit(linesMax, periodMs, (count, ms) =>
      log.error({ omitted: count, span_s: ms / 1000 }, `internal errors: … and ${count.toLocaleString("en-US")} more`),
    );
  }

  /** Does some work; logs what it throws. @param about what it is about, for the log */
  contain(about: object, work: () => void): void {
    try {
      work();
    } catch (error) {
      const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
      for (const each of errors)
        if (this.#lines.take()) this.#log.error({ err: each, ...about }, "internal error; the rest goes on");
    }
  }
}
