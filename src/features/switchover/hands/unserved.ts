/** When clients of a pooler are held after a loss. Pure. */
import type { ShownConnection, ShownDatabase, ShownPool } from "../../../core/balancing/pgbouncer/documents.ts";

/** What one look at a pooler finds of a database. */
export type PoolSight =
  /** A server, or one in login: clients are served, or will be. Of a dead machine, servers stand until a timeout ends them. */
  | "server"
  /** No server and nobody who waits for one: the first client starts a login. */
  | "idle"
  /** Somebody has paused it: its clients wait, and none is refused. */
  | "paused"
  /** No server, no login and a client that waits: PgBouncer refuses all others, or is just about to log in. */
  | "unserved";

/** How often a pool has to be seen without a server in a row: a healthy one is once, between two logins. */
export const looksInRow = 3;

/** What rolecall knows of the leader while it looks. */
export type LeaderSight =
  /** Its database holds the connection of rolecall, and it is the primary. */
  | "stands"
  /** The connection has ended within the last seconds. */
  | "connection_ended"
  /** No node is accepted as the primary. */
  | "no_primary"
  /** A run holds clients of other databases, until a primary is accepted. */
  | "holding"
  /** A hold has ended, and no primary was accepted since. */
  | "held_before";

/** Reads SHOW SERVERS, SHOW POOLS and, where it was asked, SHOW DATABASES: over all pools of the database. */
export function sightOf(
  database: string,
  {
    servers,
    pools,
    databases = [],
  }: {
    readonly servers: readonly ShownConnection[];
    readonly pools: readonly ShownPool[];
    readonly databases?: readonly ShownDatabase[];
  },
): PoolSight {
  if (databases.some(({ name, isPaused }) => name === database && isPaused)) return "paused";
  const own = pools.filter((pool) => pool.database === database);
  const hasServer =
    servers.some((server) => server.database === database) || own.some(({ serversInLogin }) => serversInLogin > 0);
  if (hasServer) return "server";
  return own.some(({ clientsWaiting }) => clientsWaiting > 0) ? "unserved" : "idle";
}

/**
 * Whether the clients of a database are held now. They are only where they would be refused anyway, whatever rolecall thinks
 * of the primary.
 * @param inRow how often the database was unserved in a row, this look included
 */
export function isHoldDue(leader: LeaderSight, sight: PoolSight, inRow: number): boolean {
  return leader !== "stands" && leader !== "held_before" && sight === "unserved" && inRow >= looksInRow;
}
