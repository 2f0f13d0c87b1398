import type { DatabaseAddress } from "../../cluster/node.ts";
import type { PoolerConfig } from "../../config/model/config.ts";
import type { PgbouncerInspection } from "../../push/pgbouncer/inspect-pgbouncer.ts";

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
}
