import { type ConsoleTarget, PgbouncerConsole } from "../../src/core/balancing/pgbouncer/console.ts";

/** Opens a console for some commands. @throws ConsoleError, and what `work` throws */
export async function withConsole<T>(
  target: ConsoleTarget,
  limitMs: number,
  work: (console: PgbouncerConsole) => Promise<T>,
): Promise<T> {
  const opened = await PgbouncerConsole.open(target, limitMs);
  try {
    return await work(opened);
  } finally {
    opened.close();
  }
}
