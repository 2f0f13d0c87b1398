import { oneOf } from "../../core/cluster/values/one-of.ts";
import { drainMsMax } from "../../core/cluster/drain.ts";
import { parseDuration } from "../../core/cluster/values/duration.ts";
import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import { readJsonBody } from "../../core/http/message/json-body.ts";
import {
  badRequest,
  errorReply,
  jsonReply,
  methodNotAllowed,
  type Reply,
  unknownParameter,
} from "../../core/http/message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../../core/http/message/request.ts";
import { servePage } from "../../core/http/pages/page.ts";
import { renderSliced } from "../../core/http/pages/rendering.ts";
import { changedBy } from "../../core/http/admin-api/drains-api.ts";

/** The drain of a member, for people. */
interface ShownDrain {
  readonly by: string | null;
  /** RFC 3339. */
  readonly until: string | null;
}

/** What the answers on the fleet come from. */
export interface AnsweringFleet {
  /** The fleet as JSON in pieces; `null` without one. @param only a cluster: others are left out; `null`: all */
  pieces(only: string | null): Iterable<string> | null;
  /** This instance as a member; `null` without a fleet. */
  readonly membership: Membership | null;
}

interface Membership {
  readonly phase: { readonly kind: string };
  readonly problem: string | null;
  readonly view: {
    readonly members: ReadonlyMap<string, unknown>;
    readonly draining: ReadonlyMap<string, unknown>;
  };
  drain(id: string, drain: ShownDrain, forS: number): Promise<void>;
  undrain(id: string, by: string | null): Promise<void>;
}

/** The shortest drain, in ms. */
const drainMsMin = 1_000;
/** The most members that an error names. */
const namedMax = 50;

/**
 * Answers `GET /fleet`: the members, the clusters and who owns them; `POST /fleet/members/{member}/drain` with `{"for":
 * "1h", "by": "…"}`, which keeps a member from owning clusters; and `DELETE` of the same.
 * @param fleet `null`: this instance is in none
 */
export async function answerFleet(fleet: AnsweringFleet | null, call: FleetCall): Promise<Reply | null> {
  const { path, query, only } = call;
  const { method } = call.call.request;
  if (path === "") {
    if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
    const unknown = unknownParameter(new URLSearchParams(query), []);
    return unknown === null ? serveFleet(fleet, call) : badRequest(unknown);
  }
  const [folder, id = "", action, ...rest] = path.split("/");
  if (folder !== "members" || action !== "drain" || rest.length > 0)
    return errorReply(404, "not_found", {
      message: "Cannot find this path: a fleet is at /fleet, drains of its members at /fleet/members/{member}/drain",
    });
  if (method !== "POST" && method !== "DELETE") return methodNotAllowed(method, "POST, DELETE");
  if (only !== null) return refusal(403, "one_cluster", "the listener must answer for all clusters (cluster left out)");
  return changeDrain(fleet?.membership ?? null, id, call);
}

/** What is read of a call. */
type FleetCall = Pick<FeatureCall, "call" | "path" | "query" | "only" | "gate" | "wall">;

function serveFleet(fleet: AnsweringFleet | null, { call, only, gate }: FleetCall): Promise<null> {
  const render: Parameters<typeof servePage>[0]["render"] = (rendering) =>
    renderSliced(fleet?.pieces(only) ?? ['{"fleet":null}'], rendering, ["Content-Type", "application/json"]);
  return servePage({ gate, name: "fleet", render }, call);
}

async function changeDrain(
  membership: Membership | null,
  id: string,
  { call: { request, message, caller }, wall }: FleetCall,
): Promise<Reply> {
  const { method } = request;
  const read = await readJsonBody(message);
  if (!read.ok) return read.reply;
  if (membership === null) return refusal(404, "no_fleet", "this instance must be a member of a fleet");
  const unfit = problemOf(membership, id, method === "DELETE");
  if (unfit !== null) return unfit;
  const by = changedBy(read.body["by"], caller.principal);
  if (method === "DELETE") return written(id, null, membership.undrain(id, by));
  const duration = read.body["for"];
  const forMs = typeof duration === "string" ? parseDuration(duration) : undefined;
  if (forMs === undefined || forMs < drainMsMin || forMs > drainMsMax) {
    const value = duration === undefined ? "nothing" : JSON.stringify(duration);
    return badRequest({ subject: "for", value, allowed: "a duration from 1s to 30d, such as 30min, 2h" });
  }
  const forS = Math.ceil(forMs / 1_000);
  const drain = { by, until: new Date(wall() + forS * 1_000).toISOString() };
  return written(id, drain, membership.drain(id, drain, forS));
}

/** Why the drain of a member cannot be changed. */
function problemOf({ phase, problem, view }: Membership, id: string, isEnd: boolean): Reply | null {
  if (phase.kind !== "joined")
    return refusal(503, "apart", `this instance must be connected to the fleet's etcd, got ${problem ?? phase.kind}`);
  if (isEnd && view.draining.has(id)) return null;
  if (!view.members.has(id)) {
    const known = oneOf([...view.members.keys()].slice(0, namedMax), "member");
    return refusal(404, "unknown_member", `${JSON.stringify(id.slice(0, 200))} must be ${known}`);
  }
  return isEnd ? refusal(404, "member_not_drained", `${id} is not drained`) : null;
}

async function written(member: string, drain: ShownDrain | null, change: Promise<void>): Promise<Reply> {
  try {
    await change;
  } catch (error) {
    return refusal(503, "not_written", errorMessage(error));
  }
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ member, drain }));
}

function refusal(status: number, error: string, why: string): Reply {
  return errorReply(status, error, { message: `Cannot change the drain of a member: ${why}` });
}
