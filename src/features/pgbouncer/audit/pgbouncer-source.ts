import { type ConsoleTarget, PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import { readConfig, readDatabases, readServers } from "../../../core/balancing/pgbouncer/documents.ts";
import { poolOfDatabase, type ReadDatabase } from "./pgbouncer-servers.ts";
import type { RouteSource } from "../../../core/balancing/audited/route-source.ts";

/** Reads where the connections of a PgBouncer lead, by SHOW commands: opens a console, asks, closes it. */
export function pgbouncerSource(
  target: ConsoleTarget,
  databases: readonly ReadDatabase[],
  limitMs: number,
): RouteSource {
  return {
    read: async (signal) => {
      const endMs = performance.now() + limitMs;
      const console = await PgbouncerConsole.open(target, limitMs, { signal });
      try {
        const leftMs = Math.max(1, endMs - performance.now());
        // They are answered one after the other.
        const [shown, servers, settings] = await Promise.all([
          console.query("SHOW DATABASES", leftMs).then(readDatabases),
          console.query("SHOW SERVERS", leftMs).then(readServers),
          console.query("SHOW CONFIG", leftMs).then(readConfig),
        ]);
        return databases.map((database) => poolOfDatabase(database, { databases: shown, servers, settings }));
      } finally {
        console.close();
      }
    },
  };
}
