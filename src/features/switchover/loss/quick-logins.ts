import { PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import type { LoginRetry } from "../hands/login-retry.ts";
import { readSupply, supplyOf } from "../hands/supply.ts";
import type { IntendedPause } from "../intent/pause-intent.ts";

/** What the logins of a database depend on. */
export interface QuickLoginsContext {
  readonly target: IntendedPause;
  readonly retry: LoginRetry;
  /** Makes sure that the database leads to the new primary. @returns `null` once it does. Never rejects */
  readonly lead: () => Promise<string | null>;
  /** Whether this is to go on: the primary is the same, and no run holds the clients. */
  readonly isWanted: () => boolean;
  /** Writes down that the setting is lowered, before it is. @throws Error if that is not possible */
  readonly announce: (before: string) => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
  /** In ms. */
  readonly now: () => number;
}

/** How long the database may take to lead to the new primary, and its clients to wait there, in ms. */
const leadMs = 30_000;
const lookMs = 3_000;
const everyMs = 100;
/** Of each command, in ms. */
const commandMs = 1_000;

/**
 * Lets the clients of a database have servers soon after a new primary was accepted, where nobody holds them: servers of a
 * machine that has vanished count as active, so PgBouncer refuses nobody, but logins to that machine have failed, and the next
 * one comes only after `server_login_retry` (15 s by default). Never rejects.
 * @returns whether the setting was lowered
 */
export async function quickenLogins(context: QuickLoginsContext): Promise<boolean> {
  const { target, retry, isWanted, announce, now, wait } = context;
  if (!(await isLed(context))) return false;
  const untilMs = now() + lookMs;
  try {
    const console = await PgbouncerConsole.open(target.console, commandMs);
    try {
      while (isWanted() && now() < untilMs) {
        const { waiting, servers } = supplyOf(target.database, await readSupply(console, commandMs));
        if (servers > 0) return false;
        if (waiting > 0) {
          await retry.read(console);
          if (retry.before === null) return false;
          await announce(retry.before);
          await retry.quicken(target.database);
          return true;
        }
        await wait(everyMs);
      }
      return false;
    } finally {
      console.close();
    }
  } catch {
    // Clients wait for the next login of PgBouncer.
    return false;
  }
}

async function isLed({ lead, isWanted, now, wait }: QuickLoginsContext): Promise<boolean> {
  const untilMs = now() + leadMs;
  while (isWanted() && now() < untilMs) {
    if ((await lead()) === null) return true;
    await wait(everyMs);
  }
  return false;
}
