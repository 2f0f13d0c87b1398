import type { LimitedLines } from "../core/log/limited-lines.ts";

/**
 * Does some work that is worth less than the process: events, pushes, saving, probing. Logs what it throws. A node
 * whose outcomes cannot be recorded becomes unfit once its evidence is too old.
 * @param about what the work is about, for the log
 */
export function contain(lines: LimitedLines, about: object, work: () => void): void {
  try {
    work();
  } catch (error) {
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const err of errors)
      lines.write({ level: "error", text: "internal error; the rest goes on" }, () => ({ err, ...about }));
  }
}
