import type { ServerNames, TlsMaterial } from "../../config/tls-material.ts";

/** TLS files and credentials for requests to the nodes of one cluster. */
export interface NodeCredentials {
  readonly tls: TlsMaterial;
  /** The names of nodes' certificates that are not that of `tls`. */
  readonly serverNames: ServerNames;
  /** `user:password` for calls that change state, or `null`. */
  readonly auth: string | null;
  /**
   * Whether `auth` is configured, even if its file is unreadable. If so, the client's Authorization header is not
   * forwarded.
   */
  readonly hasAuth: boolean;
}

/** Without TLS files and without a password. */
export const noCredentials: NodeCredentials = { tls: {}, serverNames: new Map(), auth: null, hasAuth: false };
