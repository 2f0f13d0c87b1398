import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline, Readable } from "node:stream";
import type { Caller } from "./caller.ts";
import type { ListenerLimits } from "../../config/model/listener-access-config.ts";
import { isDelegated, type Delegated } from "./passthrough.ts";
import type { RequestHandler } from "./handler.ts";
import { errorReply, type Reply } from "./reply.ts";
import type { Request } from "./request.ts";
import { targetMax } from "./request-target.ts";

/** A request, and where its answer goes. */
export interface HttpExchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: Request;
}

/** Who asks, how much may be taken of them, and who is told of a mistake of our own. */
export interface RequestContext {
  readonly caller: Caller;
  readonly limits: ListenerLimits;
  readonly onError: (error: unknown, request: Request | null) => void;
}

/** What of a message says what is asked. */
export function requestOf({ method = "GET", url = "/", headers }: IncomingMessage): Request {
  return {
    method,
    target: url,
    host: headers.host,
    nodeHeader: oneOf(headers["x-rolecall-node"]),
    serverState: oneOf(headers["x-haproxy-server-state"]),
  };
}

/** Has a request answered, and writes the answer. A mistake of our own is one 500, and told; it ends nothing else. */
export function answerExchange(answerer: RequestHandler, exchange: HttpExchange, around: RequestContext): void {
  const fail = (error: unknown): void => failExchange(exchange, error, around.onError);
  try {
    const { message, response, request } = exchange;
    if (response.closed) return; // its client went away while a password was looked at
    const reply = request.target.length > targetMax ? tooLong(request.target) : answerer(request, message);
    if (reply instanceof Promise) reply.then((late) => writeReply(response, late, request.method)).catch(fail);
    else if (isDelegated(reply)) handOver(reply, exchange, around).catch(fail);
    else writeReply(response, reply, request.method);
  } catch (error) {
    fail(error);
  }
}

/** Hands a request over. Node reports to the response's listeners what is written to it too late: without one that ends the process. */
function handOver(
  { take }: Delegated,
  { message, response, request }: HttpExchange,
  { caller, limits, onError }: RequestContext,
): Promise<void> {
  response.on("error", ignore);
  return take({ message, response, caller, limits, onError: (error) => onError(error, request) });
}

function ignore(): void {}

/**
 * The answer to a mistake of our own, or the end of one that has begun. Never throws: it is the last to hear of what an exchange threw, in
 * callbacks of Node and of promises, where an exception would end the process.
 */
export function failExchange(
  { message, response, request }: HttpExchange,
  error: unknown,
  onError: RequestContext["onError"],
): void {
  try {
    // A body that broke off has nobody to answer, and is no mistake of ours.
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

/** Writes a reply. What is left of the request's body is not read: it is closed on instead. */
export function writeReply(response: ServerResponse, reply: Reply, method: string): void {
  if (response.writableEnded || response.destroyed) return;
  response.sendDate = false;
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

/** An answer longer than this counts, and so much of them may wait for one connection to read, in bytes. */
const largeMin = 16 * 1024;
const queuedMax = 4 * 1024 * 1024;
const queued = new WeakMap<Socket, number>();

/** Whether a large answer may wait beside those that its connection has not read yet: a single one always may. */
function mayQueue(response: ServerResponse, length: number): boolean {
  const { socket } = response.req;
  const before = queued.get(socket) ?? 0;
  if (before > 0 && before + length > queuedMax) return false;
  queued.set(socket, before + length);
  response.once("close", () => queued.set(socket, (queued.get(socket) ?? length) - length));
  return true;
}

/** Piece by piece, as fast as the asker takes them. One that goes away takes the rest with it. */
function sendPieces(pieces: readonly Buffer[], response: ServerResponse): void {
  // The stream machinery adds eight listeners of its own: with ours that is more than the ten at which Node warns of a leak.
  response.setMaxListeners(20);
  pipeline(Readable.from(pieces, { objectMode: false }), response, () => {});
}

function hasUnreadBody({ headers, complete }: IncomingMessage): boolean {
  if (complete) return false;
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
