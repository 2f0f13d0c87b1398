import { isIP, isIPv6 } from "node:net";
import type { DatabaseAddress } from "../model/config.ts";

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i;

/** Whether a text can be the name of a machine or its IP address (without brackets, without a port). */
export function isHost(text: string): boolean {
  return isIP(text) !== 0 || hostName.test(text);
}

/** Reads `host:port`, `10.0.0.1:5432` or `[::1]:5432` (port 0 to 65535); the host comes without brackets, in lower case. */
export function parseHostPort(text: string): DatabaseAddress | undefined {
  const match = /^(?:\[([0-9a-f:.%]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, digits] = match;
  const port = Number(digits);
  if (port > 65_535) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed.toLowerCase(), port } : undefined;
  return plain !== undefined && isHost(plain) ? { host: plain.toLowerCase(), port } : undefined;
}

/** Writes `host:port`, with brackets where the host is an IPv6 address. */
export function formatHostPort({ host, port }: DatabaseAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Reads the base address of an HTTP API: `http://host:port` or `https://host:port`. A path in `tolerated` (such as `/patroni`) and
 * a final `/` are dropped; any other path, a query, or user and password make it unreadable. Without a port it is 80 or 443, as in any URL.
 */
export function parseBaseAddress(text: string, tolerated: readonly string[]): string | undefined {
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || hasUserInfo(text) || /[?#]/.test(text) || !URL.canParse(text))
    return undefined;
  const url = new URL(text);
  const path = url.pathname.replace(/\/$/, "");
  return url.port !== "0" && (path === "" || tolerated.includes(path)) ? url.origin : undefined;
}

/** Whether a URL carries a user or password before its host. */
export function hasUserInfo(text: string): boolean {
  return /^[a-z]+:\/\/[^/?#]*@/i.test(text);
}
