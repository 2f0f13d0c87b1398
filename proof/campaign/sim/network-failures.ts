/** What a client of a node reports when the network gives no answer. */
import type { NodeReply } from "../../../src/core/probe/client/client.ts";

export const timedOut: NodeReply = { failure: { kind: "timeout", detail: "no answer within the timeout" } };
export const wasReset: NodeReply = { failure: { kind: "reset", detail: "UND_ERR_SOCKET: other side closed" } };
export const wasRefused: NodeReply = { failure: { kind: "refused", detail: "ECONNREFUSED: connection refused" } };
export const wasLateHere: NodeReply = {
  failure: { kind: "late_here", detail: "no answer in time, in which rolecall itself was late" },
};
