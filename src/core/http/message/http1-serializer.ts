import type { Reply } from "./reply.ts";

/** What else the bytes of a response depend on. */
export interface ResponseFraming {
  readonly method: string;
  readonly keepsConnection: boolean;
  /** How long the listener keeps an idle connection, in ms. */
  readonly idleTimeoutMs: number;
}

/**
 * Serializes a reply to the bytes that node:http would write for it: HTTP/1.1 whatever the version of the request, our
 * headers, Content-Length, then Connection and Keep-Alive. The self-test of the fast path and a test compare both.
 */
export function renderReply(
  { status, phrase, headers, body }: Reply,
  { method, keepsConnection, idleTimeoutMs }: ResponseFraming,
): Buffer {
  const length = method === "OPTIONS" ? 0 : body.length;
  let head = `HTTP/1.1 ${status} ${phrase}\r\n`;
  for (let at = 0; at + 1 < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  head += `Content-Length: ${length}\r\n`;
  head += keepsConnection
    ? `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleTimeoutMs / 1_000)}\r\n\r\n`
    : "Connection: close\r\n\r\n";
  if (method === "HEAD" || length === 0) return Buffer.from(head, "latin1");
  const bytes = Buffer.allocUnsafe(head.length + length);
  bytes.write(head, "latin1");
  body.copy(bytes, head.length);
  return bytes;
}

/** What node:http sends on a connection whose first request did not come in time. */
export const renderedTimeout: Buffer = Buffer.from(
  "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n",
  "latin1",
);
