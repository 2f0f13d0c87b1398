import { type ConsoleTarget, PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import { readConfig, readPools } from "../../../core/balancing/pgbouncer/documents.ts";

/** The value while clients go on: 3 attempts a second. 0 would be thousands, and numbers with a point need quotes. */
const quickS = "0.1";
const quicken = `SET server_login_retry = '${quickS}'`;
/** How long the first server after RESUME is waited for before the old value comes back, in ms. */
const restoreMs = 3_000;
/** Between two looks at the servers, in ms. */
const lookMs = 100;

/**
 * Lets PgBouncer try a server again soon after RESUME: PAUSE aborts a login that runs and counts it as failed, and then no
 * client goes on for `server_login_retry` (15 s by default). The old value comes back as soon as a server of the database is
 * there. To be called after the last RELOAD, which undoes every SET, and before RESUME. Resolves when the value is set;
 * where that fails, clients may wait longer, and nothing else is wrong. Never rejects.
 * @param limitMs for the console to be opened, and of each command
 */
export async function quickenLogins(
  { console: target, database }: { readonly console: ConsoleTarget; readonly database: string },
  limitMs: number,
): Promise<void> {
  try {
    const console = await PgbouncerConsole.open(target, limitMs);
    try {
      const before = await retryOf(console, limitMs);
      if (before === null || !/^\d{1,10}(\.\d{1,6})?$/.test(before) || Number(before) <= Number(quickS))
        return console.close();
      await console.query(quicken, limitMs);
      void restoreLater(console, { database, before }, limitMs);
    } catch {
      console.close();
    }
  } catch {
    // RESUME reports what is wrong with the console.
  }
}

async function retryOf(console: PgbouncerConsole, limitMs: number): Promise<string | null> {
  return readConfig(await console.query("SHOW CONFIG", limitMs)).get("server_login_retry") ?? null;
}

/**
 * Sets the old value back as soon as the database has a server, or after a while. Until then it is set again if it was
 * lost: another rolecall that routes the same PgBouncer may send its RELOAD just now.
 */
async function restoreLater(
  console: PgbouncerConsole,
  { database, before }: { readonly database: string; readonly before: string },
  limitMs: number,
): Promise<void> {
  try {
    for (let waitedMs = 0; waitedMs < restoreMs; waitedMs += lookMs) {
      await new Promise((resolve) => void setTimeout(resolve, lookMs));
      const pools = readPools(await console.query("SHOW POOLS", limitMs));
      if (pools.some((pool) => pool.database === database && pool.serversActive + pool.serversIdle > 0)) break;
      if ((await retryOf(console, limitMs)) === before) await console.query(quicken, limitMs);
    }
    await console.query(`SET server_login_retry = '${before}'`, limitMs);
  } catch {
    // The PgBouncer is gone: it has its configured value when it runs again.
  } finally {
    console.close();
  }
}
