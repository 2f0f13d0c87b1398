import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isObject, nameOf, parseJson } from "../cluster/values/json.ts";
import type { Caller } from "../http/message/caller.ts";
import type { IncomingCall } from "../http/message/incoming-call.ts";
import { readBody } from "../http/message/request-body.ts";
import { forward } from "../http/forwarding/forward.ts";
import { notForwarded } from "../http/forwarding/headers.ts";
import { noCredentials } from "../http/forwarding/node-credentials.ts";

/** The main process, which handles the requests that workers cannot. */
export interface RelayTarget {
  /** Its port on 127.0.0.1. */
  readonly port: number;
  /** The secret by which it recognizes its workers. */
  readonly secret: string;
  /** The key of the listener that received the request. */
  readonly listener: string;
}

/** What a worker reports with a relayed request: the listener that received it, and the caller authorized there. */
export interface RelayedCall {
  readonly listener: string;
  readonly caller: Caller;
}

/** The headers that mark a relayed request. A worker overwrites what a client sends under these names. */
export const relayHeaders = { secret: "x-rolecall-relay", from: "x-rolecall-relay-from" } as const;

/** The longest answer, in bytes: longer than any page of rolecall or of a node. */
const answerMax = 128 * 1024 * 1024;
/** How long a worker waits beyond the deadline that the main process keeps, in ms. */
const graceMs = 5_000;

/**
 * Relays a request to the main process, which answers it as if it had received the request itself. The client's target,
 * Host and Connection are sent inside a relay header, and `takeRelayed` puts them back. The headers that Connection
 * names are sent too, but no other hop-by-hop header. Always ends with a response or a closed connection.
 */
export async function relay(call: IncomingCall, { port, secret, listener }: RelayTarget): Promise<void> {
  const { message, response, caller, limits } = call;
  const hasBody = message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined;
  if (message.headers.expect !== undefined) response.writeContinue();
  const body = await readBody(message, limits.bodyMax);
  if (body.kind === "aborted") {
    response.destroy();
    return;
  }
  const { url: target, headers: received } = message;
  const { host, connection } = received;
  // Of a body that is too long, only a Content-Length is sent, so that the main process refuses it.
  const length = body.kind === "whole" ? body.bytes.length : limits.bodyMax + 1;
  const relayed = { listener, caller, hasBody, target, host, connection };
  const headers: IncomingHttpHeaders = {
    ...Object.fromEntries(Object.entries(received).filter(([name]) => !notForwarded.has(name))),
    ...(hasBody ? { "content-length": String(length) } : {}),
    [relayHeaders.secret]: secret,
    [relayHeaders.from]: Buffer.from(JSON.stringify(relayed)).toString("base64"),
  };
  response.sendDate = false;
  await forward({
    call,
    upstreamName: "The main process",
    isFromMainProcess: true,
    origin: `http://127.0.0.1:${port}`,
    path: "/",
    headers,
    body: body.kind === "whole" ? body.bytes : Buffer.alloc(0),
    credentials: noCredentials,
    timeoutMs: limits.callTimeoutMs + graceMs,
    answerMax,
    onHead: () => {},
  });
}

/**
 * Restores a relayed request to what the worker received: its target and headers. Removes the relay headers.
 * @returns what the worker reported; `null` if it is malformed
 */
export function takeRelayed(message: IncomingMessage): RelayedCall | null {
  const { headers } = message;
  const from = headers[relayHeaders.from];
  delete headers[relayHeaders.from];
  delete headers[relayHeaders.secret];
  const value = typeof from === "string" ? parseJson(Buffer.from(from, "base64").toString("utf8")) : undefined;
  if (!isObject(value) || typeof value["listener"] !== "string" || !isObject(value["caller"])) return null;
  // A worker's request has a Content-Length even if the client's had none.
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
