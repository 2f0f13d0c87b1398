import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Caller } from "../http/message/caller.ts";
import { isObject, nameOf, parseJson } from "../cluster/values/json.ts";
import { forward } from "./forward.ts";
import { connectionOnly } from "./headers.ts";
import type { GatewayCall } from "./passed.ts";
import { readBody } from "./request-body.ts";

/** The first process, which takes what its workers do not answer. */
export interface RelayTarget {
  /** Its port on 127.0.0.1. */
  readonly port: number;
  /** The word by which it knows its workers. */
  readonly secret: string;
  /** The listener that the request came in at. */
  readonly listener: string;
}

/** What came with a relayed request: where it came in, and who was let in there. */
export interface RelayedCall {
  readonly listener: string;
  readonly caller: Caller;
}

/** The headers by which a relayed request is known. What a client sends under these names goes no further than here. */
export const relayHeaders = { secret: "x-rolecall-relay", from: "x-rolecall-relay-from" } as const;

/** Longer than any page of ours or of a node, in bytes. */
const answerMax = 128 * 1024 * 1024;
/** What the first process may take beyond the deadline that it keeps itself, in ms. */
const graceMs = 5_000;

/**
 * Passes a request on to the first process, which answers it as if it had come in there: target, Host and Connection get there as the client
 * wrote them, with the headers that Connection names. Always ends in an answer or a closed connection.
 */
export async function relay(
  { message, response, caller, limits, onError }: GatewayCall,
  { port, secret, listener }: RelayTarget,
): Promise<void> {
  const hasBody = message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined;
  if (message.headers.expect !== undefined) response.writeContinue();
  const body = await readBody(message, limits.bodyMax);
  if (body.kind === "gone") {
    response.destroy();
    return;
  }
  const { url: target, headers: received } = message;
  const { host, connection } = received;
  // One that is too long is not sent; the length that is refused is.
  const length = body.kind === "whole" ? body.bytes.length : limits.bodyMax + 1;
  const headers: IncomingHttpHeaders = {
    ...Object.fromEntries(Object.entries(received).filter(([name]) => !connectionOnly.has(name))),
    ...(hasBody ? { "content-length": String(length) } : {}),
    [relayHeaders.secret]: secret,
    [relayHeaders.from]: Buffer.from(JSON.stringify({ listener, caller, hasBody, target, host, connection })).toString(
      "base64",
    ),
  };
  response.sendDate = false;
  await forward({
    method: "The process that looks after the nodes",
    isOwn: true,
    message,
    response,
    origin: `http://127.0.0.1:${port}`,
    path: "/",
    headers,
    body: body.kind === "whole" ? body.bytes : Buffer.alloc(0),
    upstream: { tls: {}, auth: null, hasCredentials: false },
    timeoutMs: limits.callTimeoutMs + graceMs,
    answerMax,
    onError,
    onHead: () => {},
  });
}

/**
 * Reads what a relayed request came with, takes it off the request, and makes the request what it was at the worker's listener.
 * @returns `null` where it is not as we write it
 */
export function takeRelayed(message: IncomingMessage): RelayedCall | null {
  const { headers } = message;
  const from = headers[relayHeaders.from];
  delete headers[relayHeaders.from];
  delete headers[relayHeaders.secret];
  const value = typeof from === "string" ? parseJson(Buffer.from(from, "base64").toString("utf8")) : undefined;
  if (!isObject(value) || typeof value["listener"] !== "string" || !isObject(value["caller"])) return null;
  // The way from a worker has a length of its own, also where the client said none.
  if (value["hasBody"] !== true) {
    delete headers["content-length"];
    delete headers["transfer-encoding"];
  }
  const { address, principal, consumesAuthorization } = value["caller"];
  if (typeof value["target"] === "string") message.url = value["target"];
  for (const name of ["host", "connection"] as const) {
    const { [name]: received } = value;
    if (typeof received === "string") headers[name] = received;
    else delete headers[name];
  }
  if (typeof address !== "string" || typeof consumesAuthorization !== "boolean") return null;
  return {
    listener: value["listener"],
    caller: { address, principal: nameOf(principal), consumesAuthorization },
  };
}
