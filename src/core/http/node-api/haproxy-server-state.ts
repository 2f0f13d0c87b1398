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

/**
 * Whether HAProxy sends new sessions to a server once it has read this answer. The header has the state before it: `UP`,
 * `UP 1/3` (one more failure takes it down), `DOWN 1/2` (one more success brings it up), `DOWN`, `NOLB`. Without the
 * figures one more check shows what became of it.
 * @param status of the answer
 */
export function takesSessions(header: string, status: number): boolean {
  const [, state, count, of] = /^\s*(UP|DOWN)(?:\s+(\d+)\/(\d+))?/.exec(header) ?? [];
  if (state === undefined) return false;
  const isPass = status === 200;
  const isLast = count !== undefined && Number(count) === (state === "DOWN" ? Number(of) - 1 : 1);
  return state === "UP" ? isPass || !isLast : isPass && isLast;
}

/** Adds the database address of the header to a check. The check's own `db=` parameter takes precedence. */
export function withServerState(check: Check, header: string | undefined): Check {
  if (header === undefined || check.database !== null) return check;
  const database = parseServerState(header);
  return database === undefined ? check : { ...check, database };
}
