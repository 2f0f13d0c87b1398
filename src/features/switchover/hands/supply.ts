import type { PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import {
  readPools,
  readServers,
  type ShownConnection,
  type ShownPool,
} from "../../../core/balancing/pgbouncer/documents.ts";

/** SHOW POOLS and SHOW SERVERS of one PgBouncer. */
export interface ShownSupply {
  readonly pools: readonly Pick<ShownPool, "database" | "clientsWaiting" | "serversActive" | "serversIdle">[];
  readonly servers: readonly Pick<ShownConnection, "database" | "state" | "isCloseNeeded">[];
}

/** What the clients of a database have, over all of its pools. */
export interface Supply {
  /** Clients that wait for a server. */
  readonly waiting: number;
  /** Servers that are used or free, without those of a host that the database does not lead to any more. */
  readonly servers: number;
}

/** @param limitMs of each command @throws ConsoleError */
export async function readSupply(console: PgbouncerConsole, limitMs: number): Promise<ShownSupply> {
  const [pools, servers] = await Promise.all([
    console.query("SHOW POOLS", limitMs),
    console.query("SHOW SERVERS", limitMs),
  ]);
  return { pools: readPools(pools), servers: readServers(servers) };
}

/** What the clients of a database have. Pure. */
export function supplyOf(database: string, { pools, servers }: ShownSupply): Supply {
  const own = pools.filter((pool) => pool.database === database);
  const old = servers.filter(
    (server) => server.database === database && server.isCloseNeeded === true && inPool.includes(server.state),
  );
  const all = own.reduce((sum, { serversActive, serversIdle }) => sum + serversActive + serversIdle, 0);
  return { waiting: own.reduce((sum, { clientsWaiting }) => sum + clientsWaiting, 0), servers: all - old.length };
}

const inPool: readonly string[] = ["active", "idle"];
