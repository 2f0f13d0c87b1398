import type { HintRecord } from "../../cluster/hint.ts";
import { LineLimit } from "./line-limit.ts";
import type { Logger } from "./logger.ts";

/** At most so many hints are logged in each period. The metric counts all of them. */
const linesMax = 10;
const periodMs = 10_000;

/** Writes the log lines of hints: who sent them, from where, and what they did. */
export class HintLog {
  readonly #log: Logger;
  readonly #lines: LineLimit;

  constructor(log: Logger) {
    this.#log = log;
    this.#lines = new LineLimit(linesMax, periodMs, (count, ms) =>
      log.info({ omitted: count, span_s: ms / 1000 }, `hints: … and ${count.toLocaleString("en-US")} more`),
    );
  }

  /** Logs a hint, unless too many were logged just now. */
  record({ problem, ...fields }: HintRecord): void {
    if (!this.#lines.take()) return;
    if (problem === null) this.#log.info(fields, "hint");
    else this.#log.warn({ who: fields.who, from: fields.from, problem }, "hint refused");
  }

  /** Logs how many hints the limit left out so far. */
  stop(): void {
    this.#lines.end();
  }
}
