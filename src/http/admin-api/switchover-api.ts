import type { ManagementCall } from "../../cluster/management-call.ts";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import type { Passthrough } from "../message/passthrough.ts";
import { badRequest, errorReply, jsonReply, methodNotAllowed, type Reply, unknownParameter } from "../message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../message/request.ts";
import type { RequestTarget } from "../message/request-target.ts";

/** What switchovers need. */
export interface SwitchoverApiContext {
  readonly access: Pick<ListenerAccess, "management" | "readOnly">;
  readonly passthrough: Pick<Passthrough, "manage">;
  /** Who may take over; `null` for a cluster that is not monitored. */
  readonly options: (cluster: string) => object | null;
  /** The switchovers that rolecall itself carries out. */
  readonly seamless: {
    /** A run of a cluster, or the one that began last; `null` if there is none. */
    readonly find: (cluster: string, run: string | null) => object | null;
    /** Resumes what is paused on the poolers of a cluster. */
    readonly resume: (
      cluster: string,
    ) => Promise<{ readonly resumed: readonly string[] } | { readonly error: string; readonly message: string }>;
  };
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
  const refusal = refuseCall(call, access);
  if (refusal !== null) return refusal;
  const isDryRun = dryRunOf(query);
  if (typeof isDryRun !== "boolean") return isDryRun;
  const managed: ManagementCall = { name: "switchover", method, cluster, node: null, isDryRun };
  await passthrough.manage(managed, call);
  return null;
}

/**
 * Answers `/clusters/{cluster}/switchover/run`: how far a seamless switchover is, or a dry run of one. The parameter
 * `run` names it; without it, it is the one that began last.
 */
export function answerRun(
  call: IncomingCall,
  { cluster, query }: Pick<RequestTarget, "query"> & { readonly cluster: string },
  { seamless }: SwitchoverApiContext,
): Reply {
  const { method } = call.request;
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const given = new URLSearchParams(query);
  const unknown = unknownParameter(given, ["run"]);
  if (unknown !== null) return badRequest(unknown);
  const name = given.get("run");
  const run = seamless.find(cluster, name);
  if (run !== null) return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(run));
  const message =
    name === null
      ? `Cannot show a seamless switchover of ${cluster}: this process has begun none`
      : `Cannot show the seamless switchover ${name.slice(0, 40)} of ${cluster}: it must be one of the last that this process has begun`;
  return errorReply(404, "no_run", { message });
}

/** Answers `POST /clusters/{cluster}/switchover/resume`: lifts what is paused on the poolers of the cluster. */
export async function answerResume(
  call: IncomingCall,
  cluster: string,
  { access, seamless }: SwitchoverApiContext,
): Promise<Reply> {
  const { method } = call.request;
  if (method !== "POST") return methodNotAllowed(method, "POST");
  const refusal = refuseCall(call, access);
  if (refusal !== null) return refusal;
  const result = await seamless.resume(cluster);
  if (!("error" in result)) return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(result));
  return errorReply(409, result.error, { message: result.message });
}

function refuseCall({ message, caller }: IncomingCall, access: SwitchoverApiContext["access"]): Reply | null {
  if (!access.management || access.readOnly) {
    const text =
      "Cannot forward a switchover: management calls are off on this listener. Set management: on, with auth";
    return errorReply(403, "management_off", { message: text });
  }
  if (caller.principal === null) {
    const text = "Cannot forward a switchover: its caller must be authenticated, got no credential";
    return errorReply(403, "unauthenticated", { message: text });
  }
  const type = message.headers["content-type"] ?? "";
  if (/^application\/json\s*(?:;|$)/i.test(type)) return null;
  const text = `Cannot read this body: its Content-Type must be application/json, got ${JSON.stringify(type)}`;
  return errorReply(415, "unsupported_media_type", { message: text });
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

/** The answer for a cluster that is not monitored. */
export function unknownCluster(cluster: string): Reply {
  return errorReply(404, "unknown_cluster", {
    message: `Cannot find cluster ${JSON.stringify(cluster.slice(0, 200))}: this listener does not serve it`,
  });
}
