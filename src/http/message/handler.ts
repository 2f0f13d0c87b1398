import type { IncomingMessage } from "node:http";
import type { Delegated } from "./passthrough.ts";
import type { Reply } from "./reply.ts";
import type { Request } from "./request.ts";

/** Gives the reply to a request, at once or, for what is asked seldom, later; or hands the request over whole. */
export type RequestHandler = (request: Request, message: IncomingMessage) => Reply | Promise<Reply> | Delegated;

/** Finds the bytes that answer a chunk; `null` where the chunk has to go the ordinary way. */
export interface CachedResponses {
  find(text: string): { readonly bytes: Buffer; readonly keepsConnection: boolean } | null;
}

/** Answers the requests of one listener. */
export interface ListenerHandler extends RequestHandler {
  /** Rendered responses that the fast path may send; absent where the fast path is off. */
  readonly cached?: CachedResponses;
  /** Whether a request changes state although its method is safe; absent where none does. */
  readonly changes?: (request: Request) => boolean;
}
