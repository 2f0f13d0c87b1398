import { isIP, isIPv6 } from "node:net";
import type { DatabaseAddress } from "../../cluster/node.ts";

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i;

/** Whether a text is a host name or an IP address, without brackets and port. */
export function isHost(text: string): boolean {
  return isIP(text) !== 0 || hostName.test(text);
}

/**
 * Parses `host:port`, `10.0.0.1:5432` or `[::1]:5432` with a port from 0 to 65535. The host of the result is in lower
 * case and without brackets.
 */
export function parseHostPort(text: string): DatabaseAddress | undefined {
  const match = /^(?:\[([0-9a-f:.%]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, digits] = match;
  const port = Number(digits);
  if (port > 65_535) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed.toLowerCase(), port } : undefined;
  return plain !== undefined && isHost(plain) ? { host: plain.toLowerCase(), port } : undefined;
}

/** Formats `host:port`, with brackets around an IPv6 address. */
export function formatHostPort({ host, port }: DatabaseAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Formats the address of a Runtime API: the path of its socket, or `host:port`. */
export function formatRuntimeAddress(address: { readonly path: string } | DatabaseAddress): string {
  return "path" in address ? address.path : formatHostPort(address);
}

/**
 * Parses the base address of an HTTP API: `http://host:port` or `https://host:port`. The default port is 80 or 443,
 * as in any URL. Drops a final `/` and a path in `ignoredPaths` (such as `/patroni`). Returns `undefined` for any other
 * path, for a query, and for user and password.
 */
export function parseBaseAddress(text: string, ignoredPaths: readonly string[]): string | undefined {
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || hasUserInfo(text) || /[?#]/.test(text) || !URL.canParse(text))
    return undefined;
  const url = new URL(text);
  const path = url.pathname.replace(/\/$/, "");
  return url.port !== "0" && (path === "" || ignoredPaths.includes(path)) ? url.origin : undefined;
}

/** Whether a URL has a user or password before its host. */
export function hasUserInfo(text: string): boolean {
  return /^[a-z]+:\/\/[^/?#]*@/i.test(text);
}
