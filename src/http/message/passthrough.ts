import type { IncomingMessage, ServerResponse } from "node:http";
import type { ManagementCall, NodeQuestion } from "../../cluster/management-call.ts";
import type { Caller } from "./caller.ts";
import type { ListenerLimits } from "../../config/model/listener-access-config.ts";
import type { Reply } from "./reply.ts";

/** What takes requests that are not answered from memory; the app hands it in. It writes the answer itself. */
export interface Passthrough {
  manage(call: ManagementCall, incoming: IncomingCall): Promise<void>;
  fetch(question: NodeQuestion, passed: IncomingCall): Promise<void>;
}

/** A request as it came in, and who sent it. */
export interface IncomingCall {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  readonly limits: ListenerLimits;
  /** Called with what something on the way threw: it is logged and counted. */
  readonly onError: (error: unknown) => void;
}

/** Takes the place of a reply: the request is handed over whole. */
export interface Delegated {
  readonly take: (passed: IncomingCall) => Promise<void>;
}

/** Whether a request is answered elsewhere. */
export function isDelegated(given: Reply | Delegated): given is Delegated {
  return "take" in given;
}
