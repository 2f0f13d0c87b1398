import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline, Readable } from "node:stream";
import type { RequestHandler } from "./handler.ts";
import type { HttpExchange, IncomingCall, RequestContext } from "./incoming-call.ts";
import { errorReply, type Reply } from "./reply.ts";
import type { Request } from "./request.ts";
import { targetMax } from "./request-target.ts";

/** Reads the parts of a message that determine its answer. */
export function requestOf({ method = "GET", url = "/", headers }: IncomingMessage): Request {
  return {
    method,
    target: url,
    host: headers.host,
    nodeHeader: oneOf(headers["x-rolecall-node"]),
    serverState: oneOf(headers["x-haproxy-server-state"]),
  };
}

/**
 * Answers a request with a handler. An exception of the handler becomes a 500 and is reported; it affects no other
 * request.
 */
export function answerExchange(handler: RequestHandler, exchange: HttpExchange, context: RequestContext): void {
  const { message, response, request } = exchange;
  const { caller, limits, onError } = context;
  void answerCall(handler, { message, response, request, caller, limits, onError });
}

/** Never rejects. */
async function answerCall(handler: RequestHandler, call: IncomingCall): Promise<void> {
  const { response, request } = call;
  if (response.closed) return; // the client left while its password was being checked
  // Node reports a write after the end here. Without a listener that would end the process.
  response.on("error", ignore);
  try {
    const reply = request.target.length > targetMax ? tooLong(request.target) : await handler(call);
    if (reply !== null) writeReply(response, reply, request.method);
  } catch (error) {
    failExchange(call, error, call.onError);
  }
}

function ignore(): void {}

/**
 * Answers 500 after an internal error, or ends a response that has begun. Never throws: it handles what callbacks of
 * Node and promises threw, where another exception would end the process.
 */
export function failExchange(
  { message, response, request }: HttpExchange,
  error: unknown,
  onError: RequestContext["onError"],
): void {
  try {
    // If the client broke off its body, nobody waits for an answer, and the error is not ours.
    if (!message.destroyed || message.complete) onError(error, request);
    if (response.writableEnded) return;
    if (response.headersSent) response.destroy();
    else {
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      const text = "Cannot answer: internal error, see the log of rolecall";
      writeReply(response, errorReply(500, "internal", { message: text }), request.method);
    }
  } catch {
    message.socket.destroy();
  }
}

/** Writes a reply. Does not read the rest of the request's body: closes the connection instead. */
export function writeReply(response: ServerResponse, reply: Reply, method: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.sendDate = false;
  const { wire } = reply;
  if (wire !== undefined && wire.method === method && !hasUnreadBody(response.req)) {
    response.writeHead(reply.status, reply.phrase, wire.headers);
    response.end(wire.text, "latin1");
    return;
  }
  const pieces = method === "OPTIONS" && reply.hasOptionsBody !== true ? [] : (reply.pieces ?? [reply.body]);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length > largeMin && method !== "HEAD" && !mayQueue(response, length)) {
    response.req.socket.destroy();
    return;
  }
  const closing = hasUnreadBody(response.req) ? ["Connection", "close"] : [];
  response.writeHead(reply.status, reply.phrase, [...reply.headers, "Content-Length", String(length), ...closing]);
  if (method === "HEAD" || length === 0) response.end();
  else if (pieces.length === 1) response.end(pieces[0]);
  else sendPieces(pieces, response);
}

/** Responses longer than this count towards `queuedMax`, in bytes. */
const largeMin = 16 * 1024;
/** How much of large responses may be queued for one connection, in bytes. */
const queuedMax = 4 * 1024 * 1024;
const queued = new WeakMap<Socket, number>();

/** Whether a large response may be queued behind those that its client has not read yet. The first one always may. */
function mayQueue(response: ServerResponse, length: number): boolean {
  const { socket } = response.req;
  const before = queued.get(socket) ?? 0;
  if (before > 0 && before + length > queuedMax) return false;
  queued.set(socket, before + length);
  response.once("close", () => queued.set(socket, (queued.get(socket) ?? length) - length));
  return true;
}

/** Sends piece by piece, as fast as the client reads. Stops if the client closes its connection. */
function sendPieces(pieces: readonly Buffer[], response: ServerResponse): void {
  // `pipeline` adds eight listeners. With ours that exceeds the ten at which Node warns of a leak.
  response.setMaxListeners(20);
  pipeline(Readable.from(pieces, { objectMode: false }), response, () => {});
}

/** Whether a request announced a body that was not read to its end. Does not depend on how much of it has arrived. */
function hasUnreadBody({ headers, readableEnded }: IncomingMessage): boolean {
  if (readableEnded) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function oneOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function tooLong(target: string): Reply {
  return errorReply(414, "target_too_long", {
    message: `Cannot read a target of ${target.length} characters: ${targetMax} are allowed`,
  });
}
