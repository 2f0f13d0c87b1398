import { callNamed, callRules, type ManagementCall, type NodeQuestion } from "../../cluster/management-call.ts";
import type { ParseError } from "../../health/check.ts";
import { resolveTargetNode, type TargetNode, type HostNode } from "./target-node.ts";
import { rolePaths } from "../message/exporter-paths.ts";
import type { Request } from "../message/request.ts";
import type { RequestTarget } from "../message/request-target.ts";
import type { RoutingContext } from "./route-request.ts";

/** A request that is none of ours to answer: a management call, or a question that only the node can answer. */
export type PassthroughRequest =
  | { readonly kind: "management"; readonly call: ManagementCall; readonly otherByHost: HostNode | null }
  | { readonly kind: "node_question"; readonly question: NodeQuestion; readonly otherByHost: HostNode | null }
  | { readonly kind: "forbidden"; readonly call: string }
  | { readonly kind: "not_allowed"; readonly allow: string }
  | { readonly kind: "bad_request"; readonly problem: ParseError };

/**
 * Understands requests that are passed on to nodes, where the listener does that; else they are forbidden. Which node is meant is settled
 * as for checks, but whether a node has to be named is up to the call.
 * @returns `undefined` for what asks for nothing of the kind
 */
export function routePassthrough(
  target: RequestTarget,
  request: Request,
  listening: RoutingContext,
): PassthroughRequest | undefined {
  const name = callNamed(target.path);
  const rule = name === undefined ? undefined : callRules.get(name);
  const isCall = rule?.methods.includes(request.method) === true;
  const isQuestion = target.path === "metrics" || /^exporter(\/|$)/.test(target.path);
  if (!isCall && !isQuestion) {
    // GET /config is answered from memory; GET /restart is nothing at all.
    return rule === undefined || name === "config"
      ? undefined
      : { kind: "not_allowed", allow: rule.methods.join(", ") };
  }
  if (!listening.passes) return { kind: "forbidden", call: `${request.method} /${target.path}` };
  const address = resolveTargetNode(target, request, { ...listening.scope, wholeCluster: true });
  if ("problem" in address) return { kind: "bad_request", problem: address.problem };
  const { otherByHost } = address;
  if (name === undefined) return nodeQuestion(target, request, address);
  const isDryRun = dryRun(target.query, listening.rules.ignoreParams);
  if (typeof isDryRun !== "boolean") return { kind: "bad_request", problem: isDryRun };
  return {
    kind: "management",
    call: { name, method: request.method, cluster: address.cluster, node: address.node, isDryRun },
    otherByHost,
  };
}

/** A misspelt `dry_run` must not become a real call: nothing else may stand in the query. */
function dryRun(query: string, ignored: readonly string[]): boolean | ParseError {
  let value = "0";
  for (const [key, given] of new URLSearchParams(query)) {
    if (ignored.includes(key)) continue;
    if (key !== "dry_run")
      return { subject: `parameter ${key}`, value: given, allowed: "dry_run, and nothing else on a management call" };
    value = given;
  }
  if (value === "1" || value === "true") return true;
  return value === "0" || value === "false"
    ? false
    : { subject: "parameter dry_run", value, allowed: "1, true, 0 or false" };
}

/** What is passed on of an exporter: pages that only tell. Its `/reload`, its `/debug/pprof` and what else it has stay behind. */
const exporterPages: ReadonlySet<string> = new Set([
  "/",
  "/metrics",
  "/explain",
  "/stat",
  "/version",
  ...rolePaths.keys(),
]);

function nodeQuestion(
  { path, query }: RequestTarget,
  { method }: Request,
  { cluster, node, otherByHost }: TargetNode,
): PassthroughRequest {
  if (method !== "GET") return { kind: "not_allowed", allow: "GET" };
  const isOfApi = path === "metrics";
  const page = isOfApi ? "/metrics" : `/${path.slice("exporter/".length)}`;
  if (!isOfApi && !exporterPages.has(page)) {
    const allowed = `one of ${[...exporterPages].map((known) => `/exporter${known}`).join(", ")}`;
    return { kind: "bad_request", problem: { subject: "path", value: `/${path}`, allowed } };
  }
  const search = query === "" || isOfApi ? "" : `?${query}`;
  return {
    kind: "node_question",
    question: { cluster, node, of: isOfApi ? "api" : "exporter", path: `${page}${search}` },
    otherByHost,
  };
}
