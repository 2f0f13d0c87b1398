import { errorMessage } from "../../cluster/values/error-message.ts";
import { ConsoleError } from "../../push/pgbouncer/console-error.ts";
import { type ConsoleTarget, PgbouncerConsole, quoteDatabase } from "../../push/pgbouncer/console.ts";
import { readClients, readDatabases } from "../../push/pgbouncer/documents.ts";
import { readPausing } from "../../push/pgbouncer/inspect-pgbouncer.ts";

/** What a run may have paused, and how its console is reached. */
export interface ResumableTarget {
  readonly run: string;
  readonly database: string;
  readonly console: ConsoleTarget;
}

/** The `application_name` of consoles that a run sends PAUSE on. Whoever resumes knows them by it. */
export function pauseConsoleName(run: string): string {
  return `rolecall pause ${run}`;
}

/**
 * Sends RESUME on a console of its own, and reads back what became of it. To be repeated until it succeeds: a PAUSE that
 * was sent and is late may still arrive as long as its console is there.
 * @param limitMs for each step
 * @returns `null` once nothing is paused and no PAUSE of the run can arrive any more; else why that is not sure
 */
export async function resumeTarget(
  { run, database, console }: ResumableTarget,
  limitMs: number,
): Promise<string | null> {
  try {
    const opened = await PgbouncerConsole.open(console, limitMs);
    try {
      return await resumeOn(opened, { run, database }, limitMs);
    } finally {
      opened.close();
    }
  } catch (error) {
    return errorMessage(error);
  }
}

async function resumeOn(
  console: PgbouncerConsole,
  { run, database }: Pick<ResumableTarget, "run" | "database">,
  limitMs: number,
): Promise<string | null> {
  const clients = readClients(await console.query("SHOW CLIENTS", limitMs));
  const isLeft = clients.some(({ applicationName }) => applicationName === pauseConsoleName(run));
  const refusal = await refusalOf(console.query(`RESUME ${quoteDatabase(database)}`, limitMs));
  const shown = readDatabases(await console.query("SHOW DATABASES", limitMs)).find(({ name }) => name === database);
  // A database that is gone holds nobody: PgBouncer closes its clients.
  if (shown?.isPaused === true) return refusal ?? "it is still paused";
  // Under a PAUSE without a database, RESUME of one says "not paused" while all clients are held.
  if ((await readPausing(console, limitMs)) === "held") return "somebody has paused all databases of this PgBouncer";
  return isLeft ? "a console that sent PAUSE is still connected" : null;
}

/** @returns what PgBouncer answered where it refused; `null` if the command succeeded */
async function refusalOf(answer: Promise<unknown>): Promise<string | null> {
  try {
    await answer;
    return null;
  } catch (error) {
    if (error instanceof ConsoleError && error.kind === "refused") return error.message;
    throw error;
  }
}
