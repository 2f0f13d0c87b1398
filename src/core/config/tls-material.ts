import type { ClusterConfig, TlsVerification } from "./model/config.ts";
import { readRegularFile } from "../files/regular-file.ts";

/** The TLS files of a listener or of the connections to nodes, as absolute paths. */
interface TlsPaths {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  /** The name that a node's certificate must have, if it is not the host of its address. */
  readonly serverName?: string | null;
  /** `chain`: the name in a node's certificate does not matter. */
  readonly verify?: TlsVerification;
}

/** The content of TLS files, as options of `node:tls`. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  /** Accepts any name in the certificate. Whether the chain of certificates is valid is verified before. */
  readonly checkServerIdentity?: () => undefined;
}

/**
 * Reads TLS files, of a listener or of the connections to a cluster's nodes.
 * @throws Error with the file's name if a file cannot be read, or is no regular file
 */
export function readTls({ ca, cert, key, serverName = null, verify = "full" }: TlsPaths): TlsMaterial {
  return {
    ...(ca === null ? {} : { ca: readRegularFile(ca) }),
    ...(cert === null ? {} : { cert: readRegularFile(cert) }),
    ...(key === null ? {} : { key: readRegularFile(key) }),
    ...(serverName === null ? {} : { servername: serverName }),
    ...(verify === "full" ? {} : { checkServerIdentity: acceptAnyName }),
  };
}

function acceptAnyName(): undefined {}

/** The names to verify in the certificates of nodes that have one of their own, by their base addresses. */
export type ServerNames = ReadonlyMap<string, string>;

/** Returns the names that nodes of a cluster have of their own (`nodes[].tls.server_name`). */
export function serverNamesOf({ nodes }: Pick<ClusterConfig, "nodes">): ServerNames {
  return new Map(
    nodes.flatMap(({ api, exporter, serverName }) =>
      [api, exporter].flatMap((origin) => (origin === null || serverName === null ? [] : [[origin, serverName]])),
    ),
  );
}

/** Returns the TLS options for connections to one address of a cluster's nodes. */
export function tlsTo(origin: string, tls: TlsMaterial | null, names: ServerNames): TlsMaterial | null {
  const servername = names.get(origin);
  return servername === undefined ? tls : { ...tls, servername };
}

/** The paths of the configured TLS files, to be watched. */
export function tlsPathsOf(tls: TlsPaths | null): readonly string[] {
  return tls === null ? [] : [tls.ca, tls.cert, tls.key].filter((path) => path !== null);
}
