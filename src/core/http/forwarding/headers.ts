import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../message/caller.ts";

/**
 * Hop-by-hop headers (RFC 9110, 7.6.1), and those that the forwarding request sets or handles itself: Content-Length,
 * Expect.
 */
export const notForwarded: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "content-length",
]);
/**
 * Headers that rolecall consumes, or writes again for a node. A browser's cookies belong to rolecall's host or to
 * another service there, never to a node, which uses none.
 */
const replaced: ReadonlySet<string> = new Set([
  "host",
  "cookie",
  "cookie2",
  "x-rolecall-node",
  "x-forwarded-for",
  "x-request-id",
]);

/** What the headers of a forwarded request depend on. */
export interface HeaderSources {
  readonly received: IncomingHttpHeaders;
  readonly caller: Caller;
  readonly requestId: string;
  readonly host: string;
  /** Whether the cluster is configured with `auth`. If so, the client's Authorization header is not forwarded. */
  readonly hasAuth: boolean;
  /** The body's length in bytes; `null` without a body. */
  readonly length: number | null;
}

/**
 * Returns the headers for a node: the client's end-to-end headers, and those that rolecall sets: Host, Content-Length,
 * X-Forwarded-For and X-Request-Id.
 */
export function headersFor({ received, caller, requestId, host, hasAuth, length }: HeaderSources): IncomingHttpHeaders {
  const dropsAuthorization = caller.consumesAuthorization || hasAuth;
  const kept = endToEnd(received).filter(
    ([name]) => !replaced.has(name) && !(name === "authorization" && dropsAuthorization),
  );
  const before = received["x-forwarded-for"];
  return {
    ...Object.fromEntries(kept),
    host,
    ...(length === null ? {} : { "content-length": String(length) }),
    "x-forwarded-for": [...(before === undefined ? [] : [before].flat()), caller.address].join(", "),
    "x-request-id": requestId,
  };
}

/** Returns the end-to-end headers: without hop-by-hop headers and those that Connection names. */
export function endToEnd(received: IncomingHttpHeaders): readonly (readonly [string, string | string[]])[] {
  const namedByConnection = (received.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  return Object.entries(received).flatMap(([name, value]) =>
    value === undefined || notForwarded.has(name) || namedByConnection.includes(name) ? [] : [[name, value] as const],
  );
}

/** Returns the client's request id if it is valid in headers and logs; otherwise a new one. */
export function requestIdOf(received: IncomingHttpHeaders): string {
  const given = received["x-request-id"];
  return typeof given === "string" && /^[\w.:@/+=-]{1,128}$/.test(given) ? given : randomUUID();
}
