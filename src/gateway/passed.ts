import type { IncomingMessage, ServerResponse } from "node:http";
import type { Visitor } from "../cluster/visitor.ts";
import type { DoorLimits } from "../config/door-config.ts";

/** A request that was let in at a door and is not answered from memory. */
export interface Passed {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly visitor: Visitor;
  readonly limits: DoorLimits;
  /** Called with what something on the way threw: it is logged and counted. */
  readonly onError: (error: unknown) => void;
}
