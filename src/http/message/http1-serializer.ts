import type { Reply } from "./reply.ts";

/** How long an idle connection is kept, in ms; balancers that reuse one may pause longer than any probe interval. */
export const keepAliveMs = 120_000;

/** The request's side of an answer's bytes. */
export interface RequestVersion {
  readonly method: string;
  readonly keepsConnection: boolean;
}

/**
 * Writes a reply as the bytes that node:http would write for it: HTTP/1.1 whatever was asked, our headers,
 * Content-Length, then what becomes of the connection. A test holds both against each other.
 */
export function renderReply(
  { status, phrase, headers, body }: Reply,
  { method, keepsConnection }: RequestVersion,
): Buffer {
  const length = method === "OPTIONS" ? 0 : body.length;
  const lines = [`HTTP/1.1 ${status} ${phrase}`];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  lines.push(`Content-Length: ${length}`);
  lines.push(
    keepsConnection ? `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveMs / 1_000}` : "Connection: close",
  );
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return method === "HEAD" || length === 0 ? head : Buffer.concat([head, body]);
}

/** What node:http sends to a connection on which no request came in time. */
export const renderedTimeout: Buffer = Buffer.from(
  "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n",
  "latin1",
);
