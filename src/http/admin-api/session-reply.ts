import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { jsonReply, methodNotAllowed, type Reply } from "../message/reply.ts";
import { safeMethods } from "../message/request.ts";

/**
 * Answers `/session`: who the caller is, and what the listener lets an authenticated caller change. On a listener whose
 * `auth` is for unsafe requests only, a browser sends no password with GET: the page sends POST, which changes nothing.
 */
export function sessionReply({ request, caller }: IncomingCall, access: ListenerAccess): Reply {
  const { method } = request;
  if (!safeMethods.includes(method) && method !== "POST") return methodNotAllowed(method, "GET, HEAD, OPTIONS, POST");
  const { auth, readOnly, management } = access;
  const canSignIn = auth !== null || access.tls?.client === "optional" || access.tls?.client === "required";
  const may = { drain: !readOnly && canSignIn, switchover: !readOnly && management && canSignIn };
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ principal: caller.principal, may }));
}
