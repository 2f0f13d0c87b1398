/**
 * What the SHOW commands of PgBouncer 1.18 to 1.24 say, read from their rows. Columns that are not used are ignored. A
 * column that a version does not have is `null`, unless every version has it.
 */
import { ConsoleError } from "./console-error.ts";
import type { ConsoleRow } from "./console.ts";

/** One row of SHOW DATABASES. The console itself is among them, as `pgbouncer`. */
export interface ShownDatabase {
  readonly name: string;
  /** Where it leads: a host, several with commas, or `null` for a Unix socket. */
  readonly host: string | null;
  readonly port: number | null;
  /** `null`: the `pool_mode` of PgBouncer. */
  readonly poolMode: string | null;
  /** The most servers of one of its pools. */
  readonly poolSize: number | null;
  /** Server connections that are open. */
  readonly connections: number | null;
  /** Also while a PAUSE still waits for transactions to end: then SHOW POOLS has active servers. */
  readonly isPaused: boolean;
  readonly isDisabled: boolean;
}

/** One row of SHOW POOLS: a database and a user. */
export interface ShownPool {
  readonly database: string;
  readonly user: string;
  readonly clientsActive: number;
  readonly clientsWaiting: number;
  readonly serversActive: number;
  readonly serversIdle: number;
  /** Idle for longer than `server_check_delay`: they are tested before the next use. */
  readonly serversUsed: number;
  readonly serversInTest: number;
  readonly serversInLogin: number;
  /** How long the oldest waiting client has waited, in ms. */
  readonly longestWaitMs: number;
  readonly poolMode: string | null;
}

/** One row of SHOW SERVERS or SHOW CLIENTS: a connection. */
export interface ShownConnection {
  readonly user: string | null;
  readonly database: string | null;
  /** `active`, `idle`, `waiting`, … */
  readonly state: string;
  readonly address: string | null;
  readonly port: number | null;
  /** PgBouncer's own identifier; one that was freed is used again. */
  readonly pointer: string;
  /** The identifier of the connection at the other side; `null` if there is none now. */
  readonly link: string | null;
  /** Text with a resolution of one second. */
  readonly connectTime: string | null;
  readonly requestTime: string | null;
  readonly applicationName: string | null;
  /** What KILL_CLIENT names a client by, which is never used again; `null`: this version has no such command. */
  readonly id: number | null;
  /** The process at the other side of a Unix socket, or of the server; 0 if it is not known. */
  readonly remotePid: number | null;
  /** RECONNECT or a change of its route has marked it: it is closed as soon as it is free. */
  readonly isCloseNeeded: boolean | null;
}

/** One row of SHOW PEERS. */
export interface ShownPeer {
  readonly id: number;
  /** A host, or the folder of a Unix socket. */
  readonly host: string | null;
  readonly port: number | null;
}

/** The version of a PgBouncer. */
export interface PgbouncerVersion {
  readonly major: number;
  readonly minor: number;
}

export function readDatabases(rows: readonly ConsoleRow[]): readonly ShownDatabase[] {
  const document = "SHOW DATABASES";
  return rows.map((row) => ({
    name: textOf(row, "name", document),
    host: optional(row, "host"),
    port: optionalNumber(row, "port", document),
    poolMode: optional(row, "pool_mode"),
    poolSize: optionalNumber(row, "pool_size", document),
    connections: optionalNumber(row, "current_connections", document),
    isPaused: numberOf(row, "paused", document) !== 0,
    isDisabled: numberOf(row, "disabled", document) !== 0,
  }));
}

export function readPools(rows: readonly ConsoleRow[]): readonly ShownPool[] {
  const document = "SHOW POOLS";
  return rows.map((row) => ({
    database: textOf(row, "database", document),
    user: textOf(row, "user", document),
    clientsActive: numberOf(row, "cl_active", document),
    clientsWaiting: numberOf(row, "cl_waiting", document),
    serversActive: numberOf(row, "sv_active", document),
    serversIdle: numberOf(row, "sv_idle", document),
    serversUsed: numberOf(row, "sv_used", document),
    serversInTest: numberOf(row, "sv_tested", document),
    serversInLogin: numberOf(row, "sv_login", document),
    longestWaitMs: 1000 * numberOf(row, "maxwait", document) + Math.floor(numberOf(row, "maxwait_us", document) / 1000),
    poolMode: optional(row, "pool_mode"),
  }));
}

export function readServers(rows: readonly ConsoleRow[]): readonly ShownConnection[] {
  return rows.map((row) => connectionOf(row, "SHOW SERVERS"));
}

export function readClients(rows: readonly ConsoleRow[]): readonly ShownConnection[] {
  return rows.map((row) => connectionOf(row, "SHOW CLIENTS"));
}

export function readPeers(rows: readonly ConsoleRow[]): readonly ShownPeer[] {
  const document = "SHOW PEERS";
  return rows.map((row) => ({
    id: numberOf(row, "peer_id", document),
    host: optional(row, "host"),
    port: optionalNumber(row, "port", document),
  }));
}

/** The settings of SHOW CONFIG, by their keys. */
export function readConfig(rows: readonly ConsoleRow[]): ReadonlyMap<string, string | null> {
  return new Map(rows.map((row) => [textOf(row, "key", "SHOW CONFIG"), row["value"] ?? null]));
}

export function readVersion(rows: readonly ConsoleRow[]): PgbouncerVersion {
  const text = textOf(rows[0] ?? {}, "version", "SHOW VERSION");
  const match = /^PgBouncer (\d{1,4})\.(\d{1,4})/.exec(text);
  if (match === null) throw unusable("SHOW VERSION", "version", text);
  return { major: Number(match[1]), minor: Number(match[2]) };
}

/** Whether a PgBouncer is of this version or a later one. */
export function isAtLeast(version: PgbouncerVersion, major: number, minor: number): boolean {
  return version.major > major || (version.major === major && version.minor >= minor);
}

function connectionOf(row: ConsoleRow, document: string): ShownConnection {
  return {
    user: optional(row, "user"),
    database: optional(row, "database"),
    state: textOf(row, "state", document),
    address: optional(row, "addr"),
    port: optionalNumber(row, "port", document),
    pointer: textOf(row, "ptr", document),
    link: optional(row, "link"),
    connectTime: optional(row, "connect_time"),
    requestTime: optional(row, "request_time"),
    applicationName: optional(row, "application_name"),
    id: optionalNumber(row, "id", document),
    remotePid: optionalNumber(row, "remote_pid", document),
    isCloseNeeded: flagOf(optionalNumber(row, "close_needed", document)),
  };
}

/** A column that may be missing; an empty text is the same as none. */
function optional(row: ConsoleRow, column: string): string | null {
  const text = row[column] ?? null;
  return text === "" ? null : text;
}

function textOf(row: ConsoleRow, column: string, document: string): string {
  const text = row[column] ?? null;
  if (text === null) throw unusable(document, column, "nothing");
  return text;
}

function optionalNumber(row: ConsoleRow, column: string, document: string): number | null {
  return optional(row, column) === null ? null : numberOf(row, column, document);
}

function numberOf(row: ConsoleRow, column: string, document: string): number {
  const text = textOf(row, column, document);
  if (!/^-?\d{1,15}$/.test(text)) throw unusable(document, column, text);
  return Number(text);
}

function flagOf(number: number | null): boolean | null {
  return number === null ? null : number !== 0;
}

function unusable(document: string, column: string, got: string): ConsoleError {
  return new ConsoleError("unusable", `${column} of ${document} must be what PgBouncer says, got ${got.slice(0, 80)}`);
}
