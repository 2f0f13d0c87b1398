import type { DatabaseAddress } from "../../cluster/node.ts";
import { parseDatabaseAddress, type Check } from "../../health/check.ts";

/**
 * Reads the database address from HAProxy's `X-Haproxy-Server-State` header, as in `UP; address=10.0.0.1; port=5432;
 * …`. HAProxy sends it for `http-check send-state`: it is the address to which HAProxy would route the traffic.
 * @returns `undefined` if the header names no valid address and port
 */
export function parseServerState(header: string): DatabaseAddress | undefined {
  const address = /(?:^|;)\s*address=([^;\s]+)/.exec(header)?.[1];
  const port = /(?:^|;)\s*port=(\d{1,5})/.exec(header)?.[1];
  if (address === undefined || port === undefined) return undefined;
  return parseDatabaseAddress(address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`);
}

/**
 * Reads the server's name from the header, as `pg_read/pg1` in `UP; name=pg_read/pg1; …`.
 * @returns `undefined` if there is none
 */
export function parseServerName(header: string | undefined): string | undefined {
  return header === undefined
    ? undefined
    : /(?:^|;)\s*name=([\w.:-]{1,128}\/[\w.:-]{1,128})(?:;|\s|$)/.exec(header)?.[1];
}

/** Adds the database address of the header to a check. The check's own `db=` parameter takes precedence. */
export function withServerState(check: Check, header: string | undefined): Check {
  if (header === undefined || check.database !== null) return check;
  const database = parseServerState(header);
  return database === undefined ? check : { ...check, database };
}
