import { ConsoleError } from "./console-error.ts";
import { type ConsoleRow, type ConsoleTarget, type PgbouncerConsole, withConsole } from "./console.ts";
import {
  type PgbouncerVersion,
  readClients,
  readConfig,
  readDatabases,
  readPeers,
  readPools,
  readVersion,
  type ShownDatabase,
  type ShownPeer,
  type ShownPool,
} from "./documents.ts";

/**
 * Whether a console may PAUSE a database. `held`: PAUSE or SUSPEND without a database holds all clients already.
 * `not_admin`: the user is in `stats_users`, not in `admin_users`.
 */
export type Pausing = "possible" | "held" | "not_admin";

/** What the console of a PgBouncer says of itself. */
export interface PgbouncerInspection {
  readonly version: PgbouncerVersion;
  /** SHOW CONFIG. */
  readonly settings: ReadonlyMap<string, string | null>;
  readonly databases: readonly ShownDatabase[];
  readonly pools: readonly ShownPool[];
  /** `null`: this version knows none. */
  readonly peers: readonly ShownPeer[] | null;
  readonly pausing: Pausing;
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
        peers: await peersUnlessUnknown(show("PEERS")),
        pausing: await readPausing(console, limitMs),
        isOneProcess: clients.some(({ applicationName }) => applicationName === second.name),
      };
    }),
  );
}

/** The peers, or `null` if the version has no such command. */
async function peersUnlessUnknown(rows: Promise<readonly ConsoleRow[]>): Promise<readonly ShownPeer[] | null> {
  try {
    return readPeers(await rows);
  } catch (error) {
    if (error instanceof ConsoleError && error.kind === "refused") return null;
    throw error;
  }
}

/**
 * Asks to PAUSE the console itself, which PgBouncer refuses to everybody, for a reason that tells the three cases apart.
 * SHOW STATE says the second one too, but 1.18 does not have it (measured with 1.18 and 1.24).
 * @throws ConsoleError
 */
export async function readPausing(console: PgbouncerConsole, limitMs: number): Promise<Pausing> {
  try {
    await console.query("PAUSE pgbouncer", limitMs);
    return "possible";
  } catch (error) {
    if (!(error instanceof ConsoleError && error.kind === "refused")) throw error;
    if (error.message.includes("admin access")) return "not_admin";
    return error.message.includes("already") ? "held" : "possible";
  }
}
