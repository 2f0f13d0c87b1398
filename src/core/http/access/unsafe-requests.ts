import type { IncomingMessage } from "node:http";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import { errorReply, type Reply } from "../message/reply.ts";
import { safeMethods } from "../message/request.ts";
import type { RequestKind } from "./access-control.ts";
import { scopedFiles } from "./credential-files.ts";
import { refuseCrossOrigin } from "./cross-origin.ts";

/**
 * Refuses a request that changes state if the listener is read-only, or if a page of another site sent it. A
 * read-only listener takes the calls that it has tokens for: a hint changes no state, a pause is not its own, and who may
 * announce a stop may hold clients.
 * @returns the refusal; `null` if the request is allowed so far
 */
export function refuseUnsafe(
  { method, headers }: IncomingMessage,
  access: ListenerAccess,
  kind: Exclude<RequestKind, "safe">,
): Reply | null {
  if (access.readOnly && (kind === "unsafe" || !scopedFiles(access).has(kind))) return readOnlyReply(method ?? "");
  const isProtected = access.auth !== null || access.tls !== null;
  const isSafeMethod = safeMethods.includes(method ?? "");
  return refuseCrossOrigin(headers, { trusted: access.trustedOrigins, isProtected, isSafeMethod });
}

function readOnlyReply(method: string): Reply {
  const message =
    `Cannot accept a ${method} request that changes state: this listener has read_only: true. ` +
    "Send it to a listener of this dialect without read_only, such as one on a loopback address";
  return errorReply(403, "read_only", { message, headers: ["X-Rolecall-Reason", "read_only"] });
}
