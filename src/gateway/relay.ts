import type { IncomingHttpHeaders } from "node:http";
import type { Visitor } from "../cluster/visitor.ts";
import { isObject, nameOf, parseJson } from "../cluster/json.ts";
import { forward } from "./forward.ts";
import type { Passed } from "./passed.ts";
import { readBody } from "./request-body.ts";

/** The first process, which takes what its workers do not answer. */
export interface Relaying {
  /** Its port on 127.0.0.1. */
  readonly port: number;
  /** The word by which it knows its workers. */
  readonly secret: string;
  /** The listener that the request came in at. */
  readonly listener: string;
}

/** What came with a relayed request: where it came in, and who was let in there. */
export interface Relayed {
  readonly listener: string;
  readonly visitor: Visitor;
}

/** The headers by which a relayed request is known. What a client sends under these names goes no further than here. */
export const relayHeaders = { secret: "x-rolecall-relay", from: "x-rolecall-relay-from" } as const;

/** Longer than any page of ours or of a node, in bytes. */
const answerMax = 128 * 1024 * 1024;
/** What the first process may take beyond the deadline that it keeps itself, in ms. */
const graceMs = 5_000;
/** Headers for one connection only (RFC 9110, 7.6.1), and those that the body's way is said by. */
const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "content-length",
]);

/** Passes a request on to the first process, which answers it as if it had come in there. Always ends in an answer or a closed connection. */
export async function relay({ message, response, visitor, limits }: Passed, { port, secret, listener }: Relaying): Promise<void> {
  const hasBody = message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined;
  if (message.headers.expect !== undefined) response.writeContinue();
  const body = await readBody(message, limits.bodyMax);
  if (body.kind === "gone") {
    response.destroy();
    return;
  }
  // One that is too long is not sent; the length that is refused is.
  const length = body.kind === "whole" ? body.bytes.length : limits.bodyMax + 1;
  const kept = Object.entries(message.headers).filter(([name, value]) => value !== undefined && !connectionHeaders.has(name));
  const headers: IncomingHttpHeaders = {
    ...Object.fromEntries(kept),
    ...(hasBody ? { "content-length": String(length) } : {}),
    [relayHeaders.secret]: secret,
    [relayHeaders.from]: Buffer.from(JSON.stringify({ listener, visitor })).toString("base64"),
  };
  response.sendDate = false;
  await forward({
    asked: "The process that looks after the nodes",
    message,
    response,
    origin: `http://127.0.0.1:${port}`,
    path: message.url ?? "/",
    headers,
    body: body.kind === "whole" ? body.bytes : Buffer.alloc(0),
    upstream: { tls: {}, auth: null },
    timeoutMs: limits.callTimeoutMs + graceMs,
    answerMax,
    onHead: () => {},
  });
}

/** Reads what a relayed request came with, and takes it off the request. @returns `null` where it is not as we write it */
export function takeRelayed(headers: IncomingHttpHeaders): Relayed | null {
  const from = headers[relayHeaders.from];
  delete headers[relayHeaders.from];
  delete headers[relayHeaders.secret];
  const value = typeof from === "string" ? parseJson(Buffer.from(from, "base64").toString("utf8")) : undefined;
  if (!isObject(value) || typeof value["listener"] !== "string" || !isObject(value["visitor"])) return null;
  const { address, who, isOurSecret } = value["visitor"];
  if (typeof address !== "string" || typeof isOurSecret !== "boolean") return null;
  return { listener: value["listener"], visitor: { address, who: nameOf(who), isOurSecret } };
}
