import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import type { Snapshot } from "../../../core/cluster/snapshot.ts";
import type { PooledDatabaseConfig, PoolerConfig } from "../../../core/config/model/config.ts";
import type { PgbouncerInspection } from "../../../core/balancing/pgbouncer/inspect-pgbouncer.ts";

/** A node of a configured cluster, with the address of its database. */
export interface KnownServer {
  readonly cluster: string;
  readonly node: string;
  readonly address: DatabaseAddress;
}

/** A pooler as it is configured, and as its console shows it. */
export interface PoolerSetup {
  readonly pooler: PoolerConfig;
  readonly shown: PgbouncerInspection;
  /** All poolers of the configuration, this one among them, in the order in which they were inspected. */
  readonly poolers: readonly PoolerConfig[];
  /** The nodes of all clusters whose database addresses are known. */
  readonly servers: readonly KnownServer[];
  /** The IP addresses that host names have now. A name that is missing cannot be resolved. */
  readonly resolved: ReadonlyMap<string, readonly string[]>;
  /** How long clients may be held at most, in ms. */
  readonly deadlineMs: number;
  /** The only cluster that matters: that of a switchover; `null`: all of them do. */
  readonly cluster: string | null;
  /** What is restarted: then only these databases matter; absent or `null`: nothing is. */
  readonly restarted?: RestartedDatabases | null;
}

/** The node whose database is restarted, and what is paused for it, as `pgb1/orders`. */
export interface RestartedDatabases {
  readonly node: string;
  readonly databases: ReadonlySet<string>;
}

/** The databases of a pooler that matter. */
export function relevantDatabases({
  pooler,
  cluster,
  restarted = null,
}: Pick<PoolerSetup, "pooler" | "cluster" | "restarted">): readonly PooledDatabaseConfig[] {
  if (restarted !== null)
    return pooler.databases.filter(({ name }) => restarted.databases.has(`${pooler.name}/${name}`));
  return cluster === null ? pooler.databases : pooler.databases.filter((database) => database.cluster === cluster);
}

/** The nodes of all clusters whose database addresses are known. */
export function knownServers({ clusters }: Pick<Snapshot, "clusters">): readonly KnownServer[] {
  return clusters.flatMap(({ name: cluster, nodes }) =>
    nodes.flatMap(({ node: { name: node, database: address } }) =>
      address === null ? [] : [{ cluster, node, address }],
    ),
  );
}

/** Whether rolecall writes the address of the primary into the file of a pooler. */
export function isFileWritten(poolers: readonly PoolerConfig[], cluster: string): boolean {
  return poolers.some((pooler) => relevantDatabases({ pooler, cluster }).some(({ file }) => file !== null));
}
