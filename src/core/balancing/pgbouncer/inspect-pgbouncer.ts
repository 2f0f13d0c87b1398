import { ConsoleError } from "./console-error.ts";
import { type ConsoleRow, type ConsoleTarget, PgbouncerConsole } from "./console.ts";
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
  /** The other targets of the same inspection that reached this process too, as their places in the list. */
  readonly twins: readonly number[];
}

/** Two consoles of one PgBouncer. */
type Consoles = readonly [PgbouncerConsole, PgbouncerConsole];

/**
 * Reads all that rolecall has to know of PgBouncers before it pauses databases there. Changes nothing. The consoles of
 * all are open at the same time, so that two addresses of one process are seen.
 * @param limitMs of the logins, and of all answers after them
 * @returns for each target what its console says, or why it says nothing
 */
export async function inspectPgbouncers(
  targets: readonly ConsoleTarget[],
  limitMs: number,
): Promise<readonly (PgbouncerInspection | ConsoleError)[]> {
  const opened = await Promise.all(targets.map((target) => failureOrValue(openTwo(target, limitMs))));
  try {
    return await Promise.all(
      opened.map(async (own) => (own instanceof ConsoleError ? own : failureOrValue(inspect(own, opened, limitMs)))),
    );
  } finally {
    for (const consoles of opened) if (!(consoles instanceof ConsoleError)) closeAll(consoles);
  }
}

async function openTwo(target: ConsoleTarget, limitMs: number): Promise<Consoles> {
  const both = [PgbouncerConsole.open(target, limitMs), PgbouncerConsole.open(target, limitMs)] as const;
  try {
    return await Promise.all(both);
  } catch (error) {
    for (const console of both) console.then((opened) => opened.close()).catch(() => {});
    throw error;
  }
}

function closeAll(consoles: Consoles): void {
  for (const console of consoles) console.close();
}

async function inspect(
  own: Consoles,
  opened: readonly (Consoles | ConsoleError)[],
  limitMs: number,
): Promise<PgbouncerInspection> {
  const [console, second] = own;
  // They are answered one after the other, within one limit.
  const show = (what: string): Promise<readonly ConsoleRow[]> => console.query(`SHOW ${what}`, limitMs);
  const [clients, version, settings, databases, pools, peers, pausing] = await Promise.all([
    show("CLIENTS").then(readClients),
    show("VERSION").then(readVersion),
    show("CONFIG").then(readConfig),
    show("DATABASES").then(readDatabases),
    show("POOLS").then(readPools),
    peersUnlessUnknown(show("PEERS")),
    readPausing(console, limitMs),
  ]);
  const names = new Set(clients.map(({ applicationName }) => applicationName));
  const isHere = (consoles: Consoles | ConsoleError): boolean =>
    !(consoles instanceof ConsoleError) && consoles !== own && consoles.some(({ name }) => names.has(name));
  return {
    version,
    settings,
    databases,
    pools,
    peers,
    pausing,
    isOneProcess: names.has(second.name),
    twins: opened.flatMap((consoles, at) => (isHere(consoles) ? [at] : [])),
  };
}

async function failureOrValue<T>(work: Promise<T>): Promise<T | ConsoleError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ConsoleError) return error;
    throw error;
  }
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
