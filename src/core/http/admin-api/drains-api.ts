import { oneOf } from "../../cluster/values/one-of.ts";
import type { IncomingMessage } from "node:http";
import { clusterNamed } from "../../cluster/lookup.ts";
import {
  drainMsMax,
  drainTextMax,
  extentOf,
  type Drain,
  type DrainRequest,
  type Durability,
} from "../../cluster/drain.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import { nameOf, type JsonObject } from "../../cluster/values/json.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { activeDrainOf } from "../../health/evidence/node/active-drain.ts";
import { drainOverview } from "../../health/documents/node-overview.ts";
import { mayLackMembers } from "../../health/evidence/node/listed-members.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { readJsonBody } from "../message/json-body.ts";
import { badRequest, errorReply, jsonReply, methodNotAllowed, type Reply } from "../message/reply.ts";

/** The drains that a listener shows and changes. */
interface ScopedDrains {
  readonly drains: DrainsApiContext;
  /** The listener's cluster; `null`: all. */
  readonly only: string | null;
}

/** Reads and changes drains. */
export interface DrainsApiContext {
  snapshot(): Snapshot;
  /** In ms of rolecall's clock. */
  now(): number;
  /** Resolves when the drain is on disk, or cannot be written. */
  begin(cluster: string, node: string, request: DrainRequest): Promise<Durability>;
  /** As `begin`; `null` if the node is not drained. */
  end(cluster: string, node: string, by: string | null): Promise<Durability> | null;
}

/**
 * Answers `GET /drains`, `POST /drains/{cluster}/{node}` with `{"for": "30min", "reason": "…", "all": false,
 * "distrust": false, "by": "…"}`, and `DELETE` of the same path with an optional `{"by": "…", "distrust":
 * false}`. Only admin listeners have these.
 * @param path without leading and trailing slashes
 */
export async function answerDrainRequest(
  path: string,
  { message, caller }: Pick<IncomingCall, "message" | "caller">,
  context: ScopedDrains,
): Promise<Reply> {
  const [, cluster, node, ...rest] = path.split("/");
  const { method = "GET" } = message;
  if (cluster === undefined)
    return ["GET", "HEAD"].includes(method) ? list(context) : methodNotAllowed(method, "GET, HEAD");
  if (node === undefined || rest.length > 0)
    return errorReply(404, "not_found", {
      message: "Cannot find this path: drains are at /drains and /drains/{cluster}/{node}",
    });
  if (method !== "POST" && method !== "DELETE") return methodNotAllowed(method, "POST, DELETE");
  return change({ cluster, node, principal: caller.principal }, message, context);
}

interface DrainTarget {
  readonly cluster: string;
  readonly node: string;
}

interface DrainChangeTarget extends DrainTarget {
  /** Who is authenticated; `null` for nobody. */
  readonly principal: string | null;
}

/** Who changes a drain. A name in the body is a claim: the authenticated caller is added to it. */
export function changedBy(claimed: unknown, principal: string | null): string | null {
  const name = nameOf(claimed, drainTextMax);
  if (principal === null || name === principal) return name;
  return (name === null ? principal : `${name} (${principal})`).slice(0, drainTextMax);
}

function list(context: ScopedDrains): Reply {
  const clusters = context.drains
    .snapshot()
    .clusters.filter(({ name }) => context.only === null || name === context.only);
  const drains = clusters.flatMap((cluster) =>
    [...cluster.drains.keys()].flatMap((node) => {
      const drain = drainOverview(cluster, node, context.drains.now());
      return drain === null ? [] : [{ cluster: cluster.name, node, ...drain }];
    }),
  );
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ drains }));
}

async function change(
  { cluster, node, principal }: DrainChangeTarget,
  message: IncomingMessage,
  context: ScopedDrains,
): Promise<Reply> {
  const read = await readJsonBody(message);
  if (!read.ok) return read.reply;
  const { body } = read;
  const snapshot = context.drains.snapshot();
  const clusters = context.only === null ? [...snapshot.index.keys()] : [context.only];
  const state = clusters.includes(cluster) ? clusterNamed(snapshot, cluster) : undefined;
  if (state === undefined) return notFound("cluster", cluster, clusters);
  const inForce = activeDrainOf(state, node, context.drains.now());
  const isEnd = message.method === "DELETE";
  const conflict = conflictOf(inForce, { isAboutDistrust: body["distrust"] === true, isEnd }, { cluster, node });
  if (conflict !== null) return conflict;
  if (isEnd) {
    const ended = context.drains.end(cluster, node, changedBy(body["by"], principal));
    return ended === null
      ? errorReply(404, "not_drained", { message: `Cannot end the drain of ${node} in ${cluster}: it has none` })
      : changedReply({ cluster, node }, await ended, context.drains);
  }
  if (!state.index.has(node) && (!mayLackMembers(state) || state.drains.size > 100))
    return notFound("node", node, [...state.index.keys()]);
  const request = readDrainRequest(body, principal);
  if ("reply" in request) return request.reply;
  return changedReply({ cluster, node }, await context.drains.begin(cluster, node, request), context.drains);
}

/**
 * Refuses a change that would end a distrust without saying so: who drains nodes in turn, for maintenance, must not end
 * what another operator holds against one of them. Nor does the end of a distrust end a mere drain.
 * @param inForce the drain that the node has
 */
function conflictOf(
  inForce: Drain | null,
  { isAboutDistrust, isEnd }: { readonly isAboutDistrust: boolean; readonly isEnd: boolean },
  { cluster, node }: DrainTarget,
): Reply | null {
  if (inForce?.extent === "distrust" && !isAboutDistrust)
    return errorReply(409, "distrusted", {
      message:
        `Cannot change the drain of ${node} in ${cluster}: it must not be distrusted, got distrusted until ` +
        `${inForce.until} (${inForce.reason})`,
    });
  if (inForce?.extent !== "distrust" && isAboutDistrust && isEnd)
    return errorReply(404, "not_distrusted", {
      message: `Cannot end the distrust of ${node} in ${cluster}: it is not distrusted`,
    });
  return null;
}

/** Answers when a change is on disk: what is acknowledged must outlive the process, unless it says that it does not. */
function changedReply({ cluster, node }: DrainTarget, durability: Durability, drains: DrainsApiContext): Reply {
  if (durability.kind === "failed")
    return errorReply(503, "not_durable", {
      message:
        `Cannot save the change of the drain of ${node} in ${cluster}: the state file must be writable, got ` +
        `${durability.problem}. The change is in force until rolecall restarts`,
    });
  if (durability.kind === "refused")
    return errorReply(503, "not_shared", {
      message:
        `Cannot change the drain of ${node} in ${cluster}: each member of the fleet that probes the cluster must ` +
        `accept it, got ${durability.problem}`,
    });
  const drain = drainOf(drains, { cluster, node });
  const durable = durability.kind === "durable";
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, node, drain, durable }));
}

function drainOf(context: DrainsApiContext, { cluster, node }: DrainTarget): object | null {
  const state = clusterNamed(context.snapshot(), cluster);
  return state === undefined ? null : drainOverview(state, node, context.now());
}

function readDrainRequest(body: JsonObject, principal: string | null): DrainRequest | { readonly reply: Reply } {
  const duration = body["for"];
  const forMs = typeof duration === "string" ? parseDuration(duration) : undefined;
  if (forMs === undefined || forMs < 1 || forMs > drainMsMax) {
    return {
      reply: badRequest({ subject: "for", value: shown(duration), allowed: "a duration up to 30d, such as 30min, 2h" }),
    };
  }
  const reason = nameOf(body["reason"], drainTextMax);
  if (reason === null || reason.trim() === "") {
    return {
      reply: badRequest({
        subject: "reason",
        value: shown(body["reason"]),
        allowed: `text on one line of at most ${drainTextMax} characters`,
      }),
    };
  }
  for (const flag of ["all", "distrust"]) {
    const value = body[flag] ?? false;
    if (typeof value !== "boolean")
      return { reply: badRequest({ subject: flag, value: shown(value), allowed: "true or false" }) };
  }
  const extent = extentOf({ all: body["all"] === true, distrust: body["distrust"] === true });
  return { forMs, reason, extent, by: changedBy(body["by"], principal) };
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

function notFound(what: string, value: string, known: readonly string[]): Reply {
  return errorReply(404, `unknown_${what}`, {
    message: `Cannot find ${what} ${JSON.stringify(value)}: it must be ${oneOf(known, what)}`,
  });
}
