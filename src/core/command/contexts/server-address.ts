import { isIPv6 } from "node:net";

/** Where a running rolecall listens, as a user named it. */
export interface ServerAddress {
  readonly url: URL;
  /** Whether the user chose the port. Without a scheme and a port, it is that of the listener a command needs. */
  readonly hasPort: boolean;
}

/**
 * Parses a URL (`https://rolecall.example:8008`), `host:port` or `host`.
 * @param tls whether a text without a scheme means https
 * @returns `null` if it is none of these, or has a path, a query or a user
 */
export function parseServerAddress(text: string, tls: boolean): ServerAddress | null {
  const bare = text.trim().replace(/\/$/, "");
  if (/^https?:\/\//i.test(bare)) {
    const isPlain = /^https?:\/\/[^/?#@\s]+$/i.test(bare) && URL.canParse(bare);
    return isPlain ? { url: new URL(bare), hasPort: true } : null;
  }
  const host = isIPv6(bare) ? `[${bare}]` : bare;
  const match = /^(?:\[[\da-f:.]+\]|[^:/?#@[\]\s]+)(?::(\d{1,5}))?$/i.exec(host);
  const url = `${tls ? "https" : "http"}://${host}`;
  return match === null || !URL.canParse(url) ? null : { url: new URL(url), hasPort: match[1] !== undefined };
}

/** Whether two URLs name the same host. */
export function isSameHost(left: URL, right: URL): boolean {
  return left.hostname.toLowerCase() === right.hostname.toLowerCase();
}
