import type { IncomingMessage, ServerResponse } from "node:http";
import type { ListenerLimits } from "../../config/model/listener-access-config.ts";
import type { Caller } from "./caller.ts";
import type { Request } from "./request.ts";

/** A request and the response to it. */
export interface HttpExchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: Request;
}

/** Who sent a request, the limits that apply to it, and where errors go. */
export interface RequestContext {
  readonly caller: Caller;
  readonly limits: ListenerLimits;
  /** Logs and counts an internal error. `request` is `null` if the error belongs to no request. */
  readonly onError: (error: unknown, request: Request | null) => void;
}

/** An authorized request. */
export interface IncomingCall extends HttpExchange, RequestContext {}
