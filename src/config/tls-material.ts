import type { TlsVerification } from "./model/config.ts";
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

/** The paths of the configured TLS files, to be watched. */
export function tlsPathsOf(tls: TlsPaths | null): readonly string[] {
  return tls === null ? [] : [tls.ca, tls.cert, tls.key].filter((path) => path !== null);
}
