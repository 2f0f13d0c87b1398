/** One database server with its API, as configured or as found in the cluster document. */
export interface Node {
  readonly name: string;
  /** The member name that the node must state as its own. */
  readonly member: string;
  /** Whether the configuration sets `member`. Otherwise it is the node's name until the node states another. */
  readonly isMemberFixed: boolean;
  /** API base address, `http://host:port`; `null` for a node known through its exporter alone. */
  readonly api: string | null;
  readonly exporter: string | null;
  readonly database: DatabaseAddress | null;
  readonly isArchiveFed: boolean;
  /** Set in the configuration: it is never removed, and its fields override discovered ones. */
  readonly isFixed: boolean;
}

/** The address a database listens on. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
}
