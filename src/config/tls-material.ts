import { readFileSync } from "node:fs";
import type { TlsFiles } from "./model/config.ts";

/** What a TLS connection towards the nodes is made with, read from its files. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

/**
 * Reads the files for TLS towards a cluster's nodes.
 * @throws where a file cannot be read, with the file's name in the message
 */
export function readTls(files: TlsFiles): TlsMaterial {
  return {
    ...(files.ca === null ? {} : { ca: readFileSync(files.ca, "utf8") }),
    ...(files.cert === null ? {} : { cert: readFileSync(files.cert, "utf8") }),
    ...(files.key === null ? {} : { key: readFileSync(files.key, "utf8") }),
    ...(files.serverName === null ? {} : { servername: files.serverName }),
  };
}
