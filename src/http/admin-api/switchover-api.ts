import type { ManagementCall } from "../../cluster/management-call.ts";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import type { Passthrough } from "../message/passthrough.ts";
import { badRequest, jsonReply, methodNotAllowed, type Reply, unknownParameter } from "../message/reply.ts";
import { refuseManagement } from "./management-access.ts";
import { unknownCluster } from "./served-cluster.ts";
import { safeMethods } from "../message/request.ts";
import type { RequestTarget } from "../message/request-target.ts";

/** What switchovers need. */
export interface SwitchoverApiContext {
  readonly access: Pick<ListenerAccess, "management" | "readOnly">;
  readonly passthrough: Pick<Passthrough, "manage">;
  /** Who may take over; `null` for a cluster that is not monitored. */
  readonly options: (cluster: string) => object | null;
}

/**
 * Answers `/clusters/{cluster}/switchover` of an admin listener: GET who may take over, and why others may not; POST
 * forwards the switchover, or with `dry_run=1` only says what would happen. POST needs `management: on`, an
 * authenticated caller, and a content type that no form of another site can send.
 * @returns `null` if the response is written
 */
export async function answerSwitchover(
  call: IncomingCall,
  { cluster, query }: Pick<RequestTarget, "query"> & { readonly cluster: string },
  { access, passthrough, options }: SwitchoverApiContext,
): Promise<Reply | null> {
  const { method } = call.request;
  if (safeMethods.includes(method)) {
    const found = options(cluster);
    if (found === null) return unknownCluster(cluster);
    return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(found));
  }
  if (method !== "POST") return methodNotAllowed(method, "GET, HEAD, OPTIONS, POST");
  const refusal = refuseManagement(call, access);
  if (refusal !== null) return refusal;
  const isDryRun = dryRunOf(query);
  if (typeof isDryRun !== "boolean") return isDryRun;
  const managed: ManagementCall = { name: "switchover", method, cluster, node: null, isDryRun };
  await passthrough.manage(managed, call);
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
