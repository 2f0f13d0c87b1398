import { oneOf } from "../../cluster/values/one-of.ts";
import { hintEvents, type Hint, type HintEffect, type HintRecord, type HoldAnswer } from "../../cluster/hint.ts";
import { clusterNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import type { ParseError } from "../../health/check.ts";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { Caller } from "../message/caller.ts";
import type { TokenScope } from "../message/handler.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { badRequest, errorReply, jsonReply, type Reply, unknownParameter } from "../message/reply.ts";
import type { Request } from "../message/request.ts";
import { parseRequestTarget } from "../message/request-target.ts";

/** What takes hints. */
export interface HintApiContext {
  readonly snapshot: () => Snapshot;
  /** Follows a hint at once, without waiting for anything. */
  readonly follow: (hint: Hint) => HintEffect;
  readonly onHint: (record: HintRecord) => void;
  /** Holds the clients of the poolers of a cluster, whose leader stops as soon as this is answered. */
  readonly announceStop: (cluster: string, node: string, caller: Caller) => Promise<HoldAnswer>;
  readonly access: Pick<ListenerAccess, "management" | "beforeStopTokens">;
}

const parameters = ["cluster", "node", "event"];

/**
 * Whether a request is `POST /hint`, the only call that a hint token may make. Authorization and routing both use this
 * function, so that no spelling of another path passes with a hint token.
 */
export function isHintCall({ method, target }: Pick<Request, "method" | "target">): boolean {
  return method === "POST" && isHintPath(target);
}

/**
 * The kind of a call of `/hint`, for its tokens: each cluster has its own for the call that holds clients. `null`: another
 * call.
 */
export function hintScopeOf(request: Pick<Request, "method" | "target">): TokenScope | null {
  if (!isHintCall(request)) return null;
  const parsed = parseRequestTarget(request.target);
  const query = new URLSearchParams("problem" in parsed ? "" : parsed.query);
  return query.get("event") === "before_stop" ? `before_stop ${query.get("cluster") ?? ""}` : "hint";
}

/** Whether a target is `/hint`, whatever its query is. */
export function isHintPath(target: string): boolean {
  const parsed = parseRequestTarget(target);
  return !("problem" in parsed) && parsed.cluster === null && parsed.node === null && parsed.path === "hint";
}

/**
 * Answers `POST /hint?cluster=demo&node=pg2&event=promote`. A body is not read. A hint that is repeated, or for which
 * no budget is left, is answered 202 too: its sender has nothing to do about it.
 * @param only the cluster that the listener is bound to, or `null`
 */
export function answerHint(
  { request, caller }: Pick<IncomingCall, "request" | "caller">,
  only: string | null,
  { snapshot, follow, onHint, ...holding }: HintApiContext,
): Reply | Promise<Reply> {
  const parsed = parseRequestTarget(request.target);
  const hint = "problem" in parsed ? parsed.problem : readHint(new URLSearchParams(parsed.query), snapshot(), only);
  const { principal: who, address: from } = caller;
  if ("subject" in hint) {
    onHint({ cluster: "", node: null, event: null, effect: "bad_request", who, from, problem: hint.subject });
    return badRequest(hint);
  }
  if (hint.event === "before_stop" && !mayHold(hint.cluster, caller, holding.access)) return notAllowed(hint.cluster);
  const effect = follow(hint);
  if (hint.event === "before_stop" && hint.node !== null)
    return hold({ cluster: hint.cluster, node: hint.node, caller }, { onHint, ...holding });
  onHint({ ...hint, effect, who, from, problem: null });
  return jsonReply({ code: 202, phrase: "Accepted" }, JSON.stringify({ ...hint, effect }));
}

/** Permitted with a token of its own, and to every caller that may begin a switchover. */
function mayHold(cluster: string, { principal }: Caller, access: HintApiContext["access"]): boolean {
  const hasTokens = access.beforeStopTokens.some((token) => token.cluster === cluster);
  return principal !== null && (hasTokens || access.management);
}

function notAllowed(cluster: string): Reply {
  const message = `Cannot hold clients of ${cluster}: the listener must have before_stop_tokens for it, or management: on, and the caller a credential`;
  return errorReply(403, "before_stop_off", { message });
}

/** Answers when clients wait, or why they do not: 409, so that the caller can ask another rolecall. */
async function hold(
  { cluster, node, caller }: { readonly cluster: string; readonly node: string; readonly caller: Caller },
  { announceStop, onHint }: Pick<HintApiContext, "announceStop" | "onHint">,
): Promise<Reply> {
  const answer = await announceStop(cluster, node, caller);
  const hint = { cluster, node, event: "before_stop" } as const;
  onHint({ ...hint, effect: answer.effect, who: caller.principal, from: caller.address, problem: null });
  const status = answer.effect === "not_held" ? { code: 409, phrase: "Conflict" } : { code: 202, phrase: "Accepted" };
  return jsonReply(status, JSON.stringify({ ...hint, ...answer }));
}

function readHint(query: URLSearchParams, snapshot: Snapshot, only: string | null): Hint | ParseError {
  const unknown = unknownParameter(query, parameters);
  if (unknown !== null) return unknown;
  const clusters = only === null ? [...snapshot.index.keys()] : [only];
  const cluster = query.get("cluster");
  const state = clusterNamed(snapshot, cluster);
  if (cluster === null || state === undefined || !clusters.includes(cluster))
    return { subject: "parameter cluster", value: cluster ?? "", allowed: oneOf(clusters, "cluster") };
  const node = query.get("node");
  if (node !== null && !state.index.has(node)) {
    const allowed = state.index.size === 0 ? "left out: no node is known yet" : oneOf(state.index.keys(), "node");
    return { subject: "parameter node", value: node, allowed };
  }
  const text = query.get("event");
  if (text !== null && node === null)
    return { subject: "parameter event", value: text, allowed: "left out without node" };
  const event = hintEvents.find((known) => known === (text ?? "promote"));
  if (event === undefined)
    return { subject: "parameter event", value: text ?? "", allowed: `one of ${hintEvents.join(", ")}` };
  return { cluster, node, event: node === null ? null : event };
}
