import type { Config } from "../../../core/config/model/config.ts";
import { ConsoleError } from "../../../core/balancing/pgbouncer/console-error.ts";
import { PgbouncerConsole } from "../../../core/balancing/pgbouncer/console.ts";
import { readDatabases, type ShownDatabase } from "../../../core/balancing/pgbouncer/documents.ts";
import { isOfPrimary } from "../../../core/balancing/pool-verdicts.ts";
import { resolveHosts } from "../checks/resolve-hosts.ts";
import type { IntendedPause } from "../intent/pause-intent.ts";
import { nodesOfDatabase } from "../preflight/database-routes.ts";
import type { KnownServer } from "../preflight/pooler-setup.ts";

/** The node whose database is restarted, and what is known of the others. */
export interface RestartedAt {
  readonly cluster: string;
  readonly node: string;
  readonly isLeader: boolean;
  /** The nodes of all clusters whose database addresses are known. */
  readonly servers: readonly KnownServer[];
}

/** How long a console may take for the login, and for its answer, in ms; and a resolver for all names. */
const consoleMs = 1_500;
const resolveMs = 300;

type Pooler = Config["poolers"][number];
type Shown = readonly ShownDatabase[] | ConsoleError;

/**
 * The databases of poolers whose clients may use the database of a node: of the leader those that follow the primary, and
 * of any node those that `SHOW DATABASES` leads there. One that leads to no node leads to a balancer: some of its
 * connections may lead to any replica. Where a console does not answer, its databases are among them: the checks say so.
 */
export async function restartTargets(
  { poolers }: Pick<Config, "poolers">,
  at: RestartedAt,
): Promise<readonly IntendedPause[]> {
  const own = poolers.filter(({ databases }) => databases.some(({ cluster }) => cluster === at.cluster));
  const shown = await Promise.all(own.map(shownBy));
  const hosts = shown.flatMap((databases) =>
    databases instanceof ConsoleError ? [] : databases.flatMap(({ host }) => host?.split(",") ?? []),
  );
  const known = new Set([...hosts, ...at.servers.map(({ address }) => address.host)]);
  const resolved = await resolveHosts(
    [...known].filter((host) => host !== "" && !host.startsWith("/")),
    resolveMs,
  );
  return own.flatMap(({ name: pooler, pgbouncer: { address, user, passwordFile, tls }, databases }, index) =>
    databases
      .filter((database) => database.cluster === at.cluster)
      .filter((database) => {
        if (isOfPrimary(database)) return at.isLeader;
        const list = shown[index] ?? [];
        if (list instanceof ConsoleError) return true;
        const found = list.find(({ name }) => name === database.name);
        if (found === undefined) return false;
        const nodes = nodesOfDatabase(found, { servers: at.servers, resolved });
        return nodes.length === 0
          ? !at.isLeader
          : nodes.some(({ node, cluster }) => node === at.node && cluster === at.cluster);
      })
      .map((database) => ({ pooler, database: database.name, console: { address, user, passwordFile, tls } })),
  );
}

async function shownBy({ pgbouncer }: Pooler): Promise<Shown> {
  try {
    const console = await PgbouncerConsole.open(pgbouncer, consoleMs);
    try {
      return readDatabases(await console.query("SHOW DATABASES", consoleMs));
    } finally {
      console.close();
    }
  } catch (error) {
    if (error instanceof ConsoleError) return error;
    throw error;
  }
}
