import type { IncomingMessage, ServerResponse } from "node:http";
import type { Caller } from "../http/message/caller.ts";
import type { ListenerLimits } from "../config/model/listener-access-config.ts";

/** A request that was let in at a door and is not answered from memory. */
export interface GatewayCall {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly limits: ListenerLimits;
  /** Called with what something on the way threw: it is logged and counted. */
  readonly onError: (error: unknown) => void;
}
