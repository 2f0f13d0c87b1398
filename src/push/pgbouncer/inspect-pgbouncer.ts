import { ConsoleError } from "./console-error.ts";
import { type ConsoleRow, type ConsoleTarget, type PgbouncerConsole, withConsole } from "./console.ts";
import {
  type PgbouncerVersion,
  readClients,
  readConfig,
  readDatabases,
  readPeers,
  readPools,
  readState,
  readVersion,
  type ShownDatabase,
  type ShownPeer,
  type ShownPool,
  type ShownState,
} from "./documents.ts";

/** What the console of a PgBouncer says of itself. */
export interface PgbouncerInspection {
  readonly version: PgbouncerVersion;
  /** SHOW CONFIG. */
  readonly settings: ReadonlyMap<string, string | null>;
  readonly databases: readonly ShownDatabase[];
  readonly pools: readonly ShownPool[];
  /** `null`: this version knows none. */
  readonly peers: readonly ShownPeer[] | null;
  /** `null`: this version does not say it. */
  readonly state: ShownState | null;
  /** Whether the user may PAUSE and RESUME: it is in `admin_users`, not only in `stats_users`. */
  readonly isAdmin: boolean;
  /** Whether a second console at the same address reached the same process. */
  readonly isOneProcess: boolean;
}

/**
 * Reads all that rolecall has to know of a PgBouncer before it pauses a database there. Changes nothing.
 * @param limitMs of each step
 * @throws ConsoleError
 */
export function inspectPgbouncer(target: ConsoleTarget, limitMs: number): Promise<PgbouncerInspection> {
  return withConsole(target, limitMs, (console) =>
    withConsole(target, limitMs, async (second) => {
      const show = (what: string): Promise<readonly ConsoleRow[]> => console.query(`SHOW ${what}`, limitMs);
      const clients = readClients(await show("CLIENTS"));
      return {
        version: readVersion(await show("VERSION")),
        settings: readConfig(await show("CONFIG")),
        databases: readDatabases(await show("DATABASES")),
        pools: readPools(await show("POOLS")),
        peers: await unlessUnknown(show("PEERS"), readPeers),
        state: await unlessUnknown(show("STATE"), readState),
        isAdmin: await isAdmin(console, limitMs),
        isOneProcess: clients.some(({ applicationName }) => applicationName === second.name),
      };
    }),
  );
}

/** The document, or `null` if the version has no such command. */
async function unlessUnknown<T>(
  rows: Promise<readonly ConsoleRow[]>,
  read: (rows: readonly ConsoleRow[]) => T,
): Promise<T | null> {
  try {
    return read(await rows);
  } catch (error) {
    if (error instanceof ConsoleError && error.kind === "refused") return null;
    throw error;
  }
}

/** Asks for what PgBouncer refuses to everybody, with another reason to an administrator: the console is never paused. */
async function isAdmin(console: PgbouncerConsole, limitMs: number): Promise<boolean> {
  try {
    await console.query("RESUME pgbouncer", limitMs);
    return true;
  } catch (error) {
    if (error instanceof ConsoleError && error.kind === "refused") return !error.message.includes("admin access");
    throw error;
  }
}
