import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import { type Reply, jsonReply, methodNotAllowed } from "../../core/http/message/reply.ts";
import { safeMethods } from "../../core/http/message/request.ts";

/**
 * Answers `/session`: who the caller is, and what the listener lets an authenticated caller change. On a listener whose
 * `auth` is for unsafe requests only, a browser sends no password with GET: the page sends POST, which changes nothing.
 */
export function answerSession({ call: { request, caller }, access }: Pick<FeatureCall, "call" | "access">): Reply {
  const { method } = request;
  if (!safeMethods.includes(method) && method !== "POST") return methodNotAllowed(method, "GET, HEAD, OPTIONS, POST");
  const { auth, readOnly, management } = access;
  const canSignIn = auth !== null || access.tls?.client === "optional" || access.tls?.client === "required";
  const may = { drain: !readOnly && canSignIn, switchover: !readOnly && management && canSignIn };
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ principal: caller.principal, may }));
}
