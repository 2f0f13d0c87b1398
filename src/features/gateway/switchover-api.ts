import { refuseUnopened } from "../../core/health/calls/refusal.ts";
import type { ManagementCall } from "../../core/cluster/management-call.ts";
import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import { refuseManagement } from "../../core/http/admin-api/management-access.ts";
import { unknownCluster } from "../../core/http/admin-api/served-cluster.ts";
import {
  badRequest,
  jsonReply,
  methodNotAllowed,
  refusalReply,
  type Reply,
  unknownParameter,
} from "../../core/http/message/reply.ts";
import { safeMethods } from "../../core/http/message/request.ts";
import type { RunningGateway } from "./open-gateway.ts";

/**
 * Answers `/clusters/{cluster}/switchover` of an admin listener: GET who may take over, and why others may not; POST
 * forwards the switchover, or with `dry_run=1` only says what would happen. POST needs `management: on`, an
 * authenticated caller, and a content type that no form of another site can send.
 * @returns `null` if the response is written
 */
export async function answerSwitchover(
  running: RunningGateway | null,
  { call, cluster, query, access, noSuchPath }: FeatureCall,
): Promise<Reply | null> {
  if (cluster === null) return noSuchPath();
  const { method } = call.request;
  if (safeMethods.includes(method)) {
    const found = running?.switchoverOptions(cluster) ?? null;
    if (found === null) return unknownCluster(cluster);
    return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(found));
  }
  if (method !== "POST") return methodNotAllowed(method, "GET, HEAD, OPTIONS, POST");
  const refusal = refuseManagement(call, access);
  if (refusal !== null) return refusal;
  const isDryRun = dryRunOf(query);
  if (typeof isDryRun !== "boolean") return isDryRun;
  const managed: ManagementCall = { name: "switchover", method, cluster, node: null, isDryRun };
  if (running === null) return refusalReply(refuseUnopened("forward a switchover"));
  await running.gateway.manage(managed, call);
  return null;
}

/**
 * Answers `POST /clusters/{cluster}/nodes/{node}/restart` of an admin listener: a restart while the clients of poolers wait,
 * or with `dry_run=1` its checks. It needs what a switchover needs there. Any other restart goes to a health listener.
 * @returns `null` if the response is written
 */
export async function answerRestart(
  running: RunningGateway | null,
  { call, cluster, node, query, access, noSuchPath }: FeatureCall,
): Promise<Reply | null> {
  if (cluster === null || node === null) return noSuchPath();
  const { method } = call.request;
  if (method !== "POST") return methodNotAllowed(method, "POST");
  const refusal = refuseManagement(call, access);
  if (refusal !== null) return refusal;
  const isDryRun = dryRunOf(query);
  if (typeof isDryRun !== "boolean") return isDryRun;
  if (running === null) return refusalReply(refuseUnopened("restart a database"));
  await running.gateway.manage({ name: "restart", method, cluster, node, isDryRun }, call, { isSeamlessOnly: true });
  return null;
}

function dryRunOf(query: string): boolean | Reply {
  const given = new URLSearchParams(query);
  const unknown = unknownParameter(given, ["dry_run"]);
  if (unknown !== null) return badRequest(unknown);
  const value = given.get("dry_run") ?? "0";
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  return badRequest({ subject: "parameter dry_run", value, allowed: "1, true, 0 or false" });
}
