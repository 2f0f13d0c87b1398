import { refuseUnopened } from "../../core/health/calls/refusal.ts";
import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import { refuseManagement } from "../../core/http/admin-api/management-access.ts";
import {
  badRequest,
  errorReply,
  jsonReply,
  methodNotAllowed,
  refusalReply,
  type Reply,
  unknownParameter,
} from "../../core/http/message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../../core/http/message/request.ts";
import type { RunningSwitchovers } from "./open-switchover.ts";

/**
 * Answers `/clusters/{cluster}/switchover/run`: how far a seamless switchover is, or a dry run of one. The parameter
 * `run` names it; without it, it is the one that began last.
 */
export function answerRun(running: RunningSwitchovers | null, { call, cluster, query }: FeatureCall): Reply {
  const { method } = call.request;
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const given = new URLSearchParams(query);
  const unknown = unknownParameter(given, ["run"]);
  if (unknown !== null) return badRequest(unknown);
  const name = given.get("run");
  const run = cluster === null ? null : (running?.switchovers.find(cluster, name) ?? null);
  if (run !== null) return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(run));
  const message =
    name === null
      ? `Cannot show a seamless switchover of ${cluster}: this process has begun none`
      : `Cannot show the seamless switchover ${name.slice(0, 40)} of ${cluster}: it must be one of the last that this process has begun`;
  return errorReply(404, "no_run", { message });
}

/** Answers `POST /clusters/{cluster}/switchover/resume`: lifts what is paused on the poolers of the cluster. */
export async function answerResume(
  running: RunningSwitchovers | null,
  { call, cluster, access }: FeatureCall,
): Promise<Reply> {
  const { method } = call.request;
  if (method !== "POST") return methodNotAllowed(method, "POST");
  const refusal = refuseManagement(call, access);
  if (refusal !== null) return refusal;
  if (running === null || cluster === null) {
    return refusalReply(refuseUnopened("resume"));
  }
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(await running.switchovers.resume(cluster)));
}
