import type { IncomingCall } from "./incoming-call.ts";
import type { Reply } from "./reply.ts";
import type { Request } from "./request.ts";

/**
 * Answers one request.
 * @returns the reply to write; `null` if the handler has written the response itself
 */
export type RequestHandler = (call: IncomingCall) => Promise<Reply | null>;

/** Finds the bytes that answer a chunk; `null` if node:http has to handle the chunk. */
export interface CachedResponses {
  find(text: string): { readonly bytes: Buffer; readonly keepsConnection: boolean } | null;
}

/**
 * Calls that a token of their own permits: hints, the pauses that other rolecalls announce, the outcomes that they
 * follow, and the announcement that the leader of a cluster is about to stop.
 */
export type TokenScope = "hint" | "pause" | "feed" | `before_stop ${string}`;

/** Answers the requests of one listener. */
export interface ListenerHandler extends RequestHandler {
  /** Rendered responses that the fast path may send. Absent if the fast path is off. */
  readonly cached?: CachedResponses;
  /** Whether a request changes state although its method is safe. Absent if none does. */
  readonly changesState?: (request: Request) => boolean;
  /** Whose tokens suffice for a request; `null`: it needs a full credential. Absent if the listener has no such call. */
  readonly scopeOf?: (request: Request) => TokenScope | null;
}

/**
 * Answers one line of a listener whose protocol is a line and its answer.
 * @param line without its end; `null` if the client sent none
 * @param peer the address of the client
 * @returns the answer without its end; `null` to wait for a line; `false` to close the connection without one
 */
export type LineHandler = (line: string | null, peer: string) => string | false | null;
