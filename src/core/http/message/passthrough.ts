import type { ManagementCall, NodeRequest } from "../../cluster/management-call.ts";
import type { IncomingCall } from "./incoming-call.ts";

/** Sends requests to nodes that cannot be answered from memory. Writes the response itself. */
export interface Passthrough {
  manage(call: ManagementCall, incoming: IncomingCall): Promise<void>;
  fetch(request: NodeRequest, incoming: IncomingCall): Promise<void>;
}
