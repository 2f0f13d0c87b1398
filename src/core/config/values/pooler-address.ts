import type { DatabaseAddress } from "../../cluster/node.ts";
import { formatHostPort, parseHostPort } from "./address.ts";

/** Where a PgBouncer listens: a TCP address, or the folder of its Unix socket and the port in the socket's name. */
export type PoolerAddress = DatabaseAddress | { readonly folder: string; readonly port: number };

/** PgBouncer's `listen_port` where it is not set. */
const defaultPort = 6432;
/** A Unix socket's path has at most 107 bytes on Linux. */
const socketPathMax = 107;

/** Parses `host:port`, `/folder` or `/folder:port`. */
export function parsePoolerAddress(text: string): PoolerAddress | undefined {
  if (!text.startsWith("/")) {
    const address = parseHostPort(text);
    return address !== undefined && address.port > 0 ? address : undefined;
  }
  const [, path = "", digits = String(defaultPort)] = /^(.*?)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const folder = path.replace(/\/+$/, "") || "/";
  const port = Number(digits);
  const isFolder =
    !/[\s\0]|\/\.s\.PGSQL\./.test(folder) && Buffer.byteLength(socketOf({ folder, port })) <= socketPathMax;
  return isFolder && port > 0 && port <= 65_535 ? { folder, port } : undefined;
}

/** Formats it as the configuration has it. */
export function formatPoolerAddress(address: PoolerAddress): string {
  if ("host" in address) return formatHostPort(address);
  return address.port === defaultPort ? address.folder : `${address.folder}:${address.port}`;
}

/** The path of the Unix socket in its folder. */
export function socketOf({ folder, port }: { readonly folder: string; readonly port: number }): string {
  return `${folder === "/" ? "" : folder}/.s.PGSQL.${port}`;
}
