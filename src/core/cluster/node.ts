/** One database server with its API, as configured or as found in the cluster document. */
export interface Node {
  readonly name: string;
  /** The Patroni member name that the node must report. */
  readonly member: string;
  /** Whether `member` is set in the configuration. Otherwise it is the node's name until the node reports another. */
  readonly isMemberFixed: boolean;
  /** API base address, `http://host:port`; `null` for a node known through its exporter alone. */
  readonly api: string | null;
  readonly exporter: string | null;
  readonly database: DatabaseAddress | null;
  /** Restores WAL from an archive, so that it need not stream. */
  readonly isArchiveFed: boolean;
  /** The configured zone; `null`: a tag of the node may state it. */
  readonly zone: string | null;
  /** Whether the node is in the configuration. Then it is never removed, and its fields override discovered ones. */
  readonly isFixed: boolean;
}

/** The address a database listens on. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
}
