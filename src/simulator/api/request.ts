import type { IncomingMessage } from "node:http";

/** The largest request body taken, in bytes. */
const bodyBytesMax = 1_048_576;

/** A request as a node's API sees it. */
export interface SimulatedRequest {
  readonly method: string;
  /** The path as sent, not decoded, without the query. */
  readonly path: string;
  /** Its first segment: `cluster` of `/cluster/x`, empty for `/`. */
  readonly head: string;
  readonly query: ReadonlyMap<string, string>;
  /** The body; `undefined` when no length was announced, `too long` when it passes 1 MiB. */
  readonly body: string | undefined | { readonly kind: "too long" };
}

/** Reads a request to its end. Rejects when the client goes away before. */
export async function readRequest(request: IncomingMessage): Promise<SimulatedRequest> {
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?#]*/i, "").replace(/#.*$/s, "");
  const question = target.indexOf("?");
  const path = question < 0 ? target : target.slice(0, question);
  return {
    method: request.method ?? "GET",
    path: path === "" ? "/" : path,
    head: path.replace(/^\/+/, "").split("/")[0] ?? "",
    query: firstValues(question < 0 ? "" : target.slice(question + 1)),
    body: await readBody(request),
  };
}

/** The first value of every key; a key with an empty value is as good as absent (Python's parse_qs, which real nodes use). */
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
    // The rest is read and dropped, so that the refusal reaches the client.
    if (length <= bodyBytesMax) chunks.push(chunk);
  }
  if (length > bodyBytesMax) return { kind: "too long" };
  if (request.headers["content-length"] === undefined) return undefined;
  return Buffer.concat(chunks).toString("utf8");
}
