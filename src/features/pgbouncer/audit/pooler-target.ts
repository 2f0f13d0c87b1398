import {
  type AuditTarget,
  doctorCommand,
  lookLimitMs,
  type RouteAdvice,
  type RouteDifference,
} from "../../../core/balancing/audited/audit-target.ts";
import { quoteDatabase } from "../../../core/balancing/pgbouncer/console.ts";
import type { PoolerConfig } from "../../../core/config/model/config.ts";
import { formatHostPort } from "../../../core/config/values/address.ts";
import { formatPoolerAddress, type PoolerAddress, socketOf } from "../../../core/config/values/pooler-address.ts";
import { pgbouncerSource } from "./pgbouncer-source.ts";

/** What the audit looks at of a PgBouncer. */
export function poolerTarget({ name, pgbouncer, databases }: PoolerConfig): AuditTarget {
  const hasFile = (database: string): boolean => databases.some((one) => one.name === database && one.file !== null);
  const read = databases.map((database) => ({ name: database.name, hasFile: database.file !== null }));
  return {
    name,
    program: "pgbouncer",
    address: formatPoolerAddress(pgbouncer.address),
    pools: databases.map(({ name: backend, cluster, check, file }) => ({
      backend,
      cluster,
      check,
      isOfPrimary: true,
      servers: null,
      lists: "none",
      hasOnlyMembers: file !== null,
      keepsSessions: false,
    })),
    source: pgbouncerSource(pgbouncer, read, lookLimitMs),
    needsVerdicts: true,
    advise: poolerAdvice({ ...pgbouncer, hasFile }),
    key: JSON.stringify([pgbouncer, databases]),
  };
}

/** The console of a PgBouncer, and the databases whose file rolecall writes. */
export interface AdvisedPooler {
  readonly address: PoolerAddress;
  readonly user: string;
  readonly hasFile: (database: string) => boolean;
}

/** Words for the differences of one PgBouncer. */
export function poolerAdvice({ address, user, hasFile }: AdvisedPooler): (difference: RouteDifference) => RouteAdvice {
  const [host, port] = "host" in address ? [address.host, address.port] : [address.folder, address.port];
  const console = `psql "host=${host} port=${port} user=${user} dbname=pgbouncer"`;
  const where = "host" in address ? formatHostPort(address) : socketOf(address);
  return ({ kind, pool, leadsThere, closed }) => {
    const database = pool?.backend ?? "";
    if (kind === "unreachable") return { mechanism: `the console at ${where}`, command: doctorCommand };
    if (kind === "starved") {
      const command = `${closed === "disabled" ? "ENABLE" : "RESUME"} ${quoteDatabase(database)}`;
      return {
        mechanism: "the operator or program that has paused or disabled the database",
        command: `${console} -c '${command.replaceAll("'", String.raw`'\''`)}'`,
      };
    }
    const reconnect = `${console} -c '${`RECONNECT ${quoteDatabase(database)}`.replaceAll("'", String.raw`'\''`)}'`;
    if (!leadsThere)
      return {
        mechanism: hasFile(database)
          ? "rolecall, which sends RECONNECT once the database leads to another node"
          : "server_lifetime of PgBouncer, or RECONNECT",
        command: reconnect,
      };
    return hasFile(database)
      ? { mechanism: "rolecall, which writes the file of the database and sends RELOAD", command: doctorCommand }
      : {
          mechanism: "the operator or program that edits the host of the database in pgbouncer.ini",
          command: `${console} -c RELOAD && ${reconnect}`,
        };
  };
}
