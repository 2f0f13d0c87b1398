import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Caller } from "../http/message/caller.ts";

/** Headers that are for one connection only (RFC 9110, 7.6.1), and that of the body's length, which is written anew. */
export const connectionOnly: ReadonlySet<string> = new Set([
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
/** Headers that we act on ourselves, or write anew for a node. */
const ours: ReadonlySet<string> = new Set(["host", "x-rolecall-node", "x-forwarded-for", "x-request-id"]);

/** What headers to send on are made from. */
export interface HeaderSources {
  readonly received: IncomingHttpHeaders;
  readonly caller: Caller;
  readonly requestId: string;
  readonly host: string;
  /** Whether calls to this cluster's nodes have credentials of their own: then the client's are for nobody beyond us. */
  readonly hasCredentials: boolean;
  /** The body's length in bytes; `null` where there is no body. */
  readonly length: number | null;
}

/** The headers that go to the node: the client's own, but for those of the connection, and who sent them. */
export function headersFor({
  received,
  caller,
  requestId,
  host,
  hasCredentials,
  length,
}: HeaderSources): IncomingHttpHeaders {
  const isConsumed = caller.consumesAuthorization || hasCredentials;
  const kept = endToEnd(received).filter(([name]) => !ours.has(name) && !(name === "authorization" && isConsumed));
  const before = received["x-forwarded-for"];
  return {
    ...Object.fromEntries(kept),
    host,
    ...(length === null ? {} : { "content-length": String(length) }),
    "x-forwarded-for": [...(before === undefined ? [] : [before].flat()), caller.address].join(", "),
    "x-request-id": requestId,
  };
}

/** The headers that go further than one connection. */
export function endToEnd(received: IncomingHttpHeaders): readonly (readonly [string, string | string[]])[] {
  const named = (received.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  return Object.entries(received).flatMap(([name, value]) =>
    value === undefined || connectionOnly.has(name) || named.includes(name) ? [] : [[name, value] as const],
  );
}

/** The client's own name for its request, where it is fit for headers and logs; else a new one. */
export function requestIdOf(received: IncomingHttpHeaders): string {
  const given = received["x-request-id"];
  return typeof given === "string" && /^[\w.:@/+=-]{1,128}$/.test(given) ? given : randomUUID();
}
