import type { IncomingMessage, ServerResponse } from "node:http";
import type { ManagementCall, NodeQuestion } from "../cluster/management-call.ts";
import type { Visitor } from "../cluster/visitor.ts";
import type { DoorLimits } from "../config/door-config.ts";
import type { Reply } from "./reply.ts";

/** What takes requests that are not answered from memory; the app hands it in. It writes the answer itself. */
export interface Passage {
  manage(call: ManagementCall, passed: Passed): Promise<void>;
  fetch(question: NodeQuestion, passed: Passed): Promise<void>;
}

/** A request as it came in, and who sent it. */
export interface Passed {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly visitor: Visitor;
  readonly limits: DoorLimits;
  /** Called with what something on the way threw: it is logged and counted. */
  readonly onError: (error: unknown) => void;
}

/** Takes the place of a reply: the request is handed over whole. */
export interface HandedOver {
  readonly take: (passed: Passed) => Promise<void>;
}

/** Whether a request is answered elsewhere. */
export function isHandedOver(given: Reply | HandedOver): given is HandedOver {
  return "take" in given;
}
