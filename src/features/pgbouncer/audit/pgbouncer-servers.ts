import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import { formatHostPort } from "../../../core/config/values/address.ts";
import type { ShownConnection, ShownDatabase } from "../../../core/balancing/pgbouncer/documents.ts";
import type { PoolReading, ServerReading } from "../../../core/balancing/audited/reading.ts";

/** A database of a pooler. */
export interface ReadDatabase {
  readonly name: string;
  /** Whether rolecall writes its line in a file of the pooler. */
  readonly hasFile: boolean;
}

/** What a PgBouncer shows of its connections to servers, and the settings that end them. */
export interface PoolerShows {
  readonly databases: readonly ShownDatabase[];
  readonly servers: readonly ShownConnection[];
  /** SHOW CONFIG. */
  readonly settings: ReadonlyMap<string, string | null>;
}

/** How long rolecall takes to write the file, reload and reconnect, in ms: it looks every 5 s. */
const fileDelayMs = 6_000;
/** How long anything else may take that changes where a database leads, in ms. */
const routeDelayMs = 10_000;
/** PgBouncer's defaults, in s. */
const lifetimeDefaultS = 3_600;
const dnsTtlDefaultS = 15;

/** The connections of one database, by the server that they lead to. */
export function poolOfDatabase({ name, hasFile }: ReadDatabase, shows: PoolerShows): PoolReading {
  const found = shows.databases.find((database) => database.name === name);
  const none = { backend: name, isShared: false, leadsTo: null, closed: null, notTaken: null };
  if (found === undefined) return { ...none, servers: null };
  const hosts = found.host?.split(",") ?? [];
  const { port } = found;
  const [only] = hosts;
  const leadsTo = hosts.length === 1 && only !== undefined && port !== null ? { host: only.toLowerCase(), port } : null;
  const servers = new Map<string, ServerReading>();
  for (const { database, address, port: at } of shows.servers) {
    if (database !== name || address === null || at === null) continue;
    const where = { host: address.toLowerCase(), port: at };
    const server = formatHostPort(where);
    const known = servers.get(server) ?? serverAt(server, where, delayOf({ hosts, hasFile }, where, shows));
    servers.set(server, { ...known, sessions: known.sessions + 1 });
  }
  const closed = found.isPaused ? "paused" : found.isDisabled ? "disabled" : null;
  return { ...none, leadsTo, closed, servers: [...servers.values()] };
}

function serverAt(server: string, address: DatabaseAddress, delayMs: number): ServerReading {
  const uncounted = { total: null, endedBytes: null, failed: null, closed: null, isChecked: false };
  const counts = { sessions: 0, ...uncounted, newestAgoMs: null, unchangedMs: null, weight: 1 };
  return { server, address: address.host === "unix" ? null : address, use: "takes", ...counts, delayMs };
}

/** What ends connections to a server: rolecall, whatever changes the route, the name of the host, or their age. */
function delayOf(
  { hosts, hasFile }: Pick<ReadDatabase, "hasFile"> & { readonly hosts: readonly string[] },
  { host }: DatabaseAddress,
  { settings }: PoolerShows,
): number {
  if (hasFile) return fileDelayMs;
  if (hosts.includes(host)) return routeDelayMs;
  if (hosts.some((one) => /[a-z]/i.test(one) && !one.includes(":")))
    return 1_000 * secondsOf(settings.get("dns_max_ttl"), dnsTtlDefaultS) + routeDelayMs;
  return 1_000 * secondsOf(settings.get("server_lifetime"), lifetimeDefaultS) + routeDelayMs;
}

function secondsOf(text: string | null | undefined, fallback: number): number {
  const seconds = Number.parseFloat(text ?? "");
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : fallback;
}
