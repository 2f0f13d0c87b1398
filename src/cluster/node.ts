/** One database server with its API, as configured or as found in the cluster document. */
export interface Node {
  readonly name: string;
  /** The member name that the node must state of itself. */
  readonly member: string;
  /** Whether the configuration gave that name, rather than us taking the node's for it. */
  readonly isMemberFixed: boolean;
  /** API base address, `http://host:port`; `null` of a node that is known through its exporter alone. */
  readonly api: string | null;
  readonly exporter: string | null;
  readonly database: DatabaseAddress | null;
  readonly isArchiveFed: boolean;
  /** Configured by hand: it never leaves, and its fields win over what is discovered. */
  readonly isFixed: boolean;
}

/** Where a database itself listens. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
}
