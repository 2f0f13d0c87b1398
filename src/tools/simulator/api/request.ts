import type { IncomingMessage } from "node:http";

/** The largest request body accepted, in bytes. */
const bodyBytesMax = 1_048_576;

/** A request to a node's API. */
export interface SimulatedRequest {
  readonly method: string;
  /** The path as sent, not decoded, without the query. */
  readonly path: string;
  /** Its first segment: `cluster` of `/cluster/x`, empty for `/`. */
  readonly head: string;
  readonly query: ReadonlyMap<string, string>;
  /** The header `Accept`; empty without it. */
  readonly accept: string;
  /** The body; `undefined` without a Content-Length, `too long` if it exceeds 1 MiB. */
  readonly body: string | undefined | { readonly kind: "too long" };
}

/** Reads a request to its end. Rejects if the client disconnects before. */
export async function readRequest(request: IncomingMessage): Promise<SimulatedRequest> {
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*$/s, "");
  const queryAt = target.indexOf("?");
  const path = queryAt < 0 ? target : target.slice(0, queryAt);
  return {
    method: request.method ?? "GET",
    path: path === "" ? "/" : path,
    head: path.replace(/^\/+/, "").split("/")[0] ?? "",
    query: firstValues(queryAt < 0 ? "" : target.slice(queryAt + 1)),
    accept: request.headers.accept ?? "",
    body: await readBody(request),
  };
}

/**
 * Returns the first value of every key, without keys that have an empty value (Python's parse_qs, which real nodes
 * use).
 */
function firstValues(query: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(query)) {
    if (value !== "" && !values.has(key)) values.set(key, value);
  }
  return values;
}

async function readBody(request: IncomingMessage): Promise<SimulatedRequest["body"]> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    length += chunk.length;
    // The rest is read and dropped, so that the error reaches the client.
    if (length <= bodyBytesMax) chunks.push(chunk);
  }
  if (length > bodyBytesMax) return { kind: "too long" };
  if (request.headers["content-length"] === undefined) return undefined;
  return Buffer.concat(chunks).toString("utf8");
}
