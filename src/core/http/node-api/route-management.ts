import { callNamed, callRules, type ManagementCall, type NodeRequest } from "../../cluster/management-call.ts";
import type { ParseError } from "../../health/check.ts";
import { resolveTargetNode, type TargetNode, type HostNode } from "./target-node.ts";
import { rolePaths } from "../../cluster/exporter/role-paths.ts";
import type { Request } from "../message/request.ts";
import type { RequestTarget } from "../message/request-target.ts";
import type { RoutingContext } from "./routing-context.ts";

/** A management call or a request that only the node can answer; or why it is refused. */
export type PassthroughRequest =
  | { readonly kind: "management"; readonly call: ManagementCall; readonly otherByHost: HostNode | null }
  | { readonly kind: "node_request"; readonly request: NodeRequest; readonly otherByHost: HostNode | null }
  | { readonly kind: "forbidden"; readonly call: string }
  | { readonly kind: "not_allowed"; readonly allow: string }
  | { readonly kind: "bad_request"; readonly problem: ParseError };

/**
 * Routes requests that are passed through to nodes, if the listener allows that; otherwise they are forbidden. The
 * target node is resolved as for checks, but the call decides whether the request must name one.
 * @returns `undefined` for all other requests
 */
export function routePassthrough(
  target: RequestTarget,
  request: Request,
  routing: RoutingContext,
): PassthroughRequest | undefined {
  const name = callNamed(target.path);
  const rule = name === undefined ? undefined : callRules.get(name);
  const isCall = rule?.methods.includes(request.method) === true;
  const isNodeRequest = target.path === "metrics" || /^exporter(\/|$)/.test(target.path);
  if (!isCall && !isNodeRequest) {
    // GET /config is answered from memory. There is no GET /restart.
    return rule === undefined || name === "config"
      ? undefined
      : { kind: "not_allowed", allow: rule.methods.join(", ") };
  }
  if (!routing.passes) return { kind: "forbidden", call: `${request.method} /${target.path}` };
  const resolved = resolveTargetNode(target, request, { ...routing.scope, wholeCluster: true });
  if ("problem" in resolved) return { kind: "bad_request", problem: resolved.problem };
  const { otherByHost } = resolved;
  if (name === undefined) return routeNodeRequest(target, request, resolved);
  const isDryRun = parseDryRun(target.query, routing.rules.ignoreParams);
  if (typeof isDryRun !== "boolean") return { kind: "bad_request", problem: isDryRun };
  return {
    kind: "management",
    call: { name, method: request.method, cluster: resolved.cluster, node: resolved.node, isDryRun },
    otherByHost,
  };
}

/** Parses `dry_run`. Refuses every other parameter, so that a misspelt `dry_run` does not become a real call. */
function parseDryRun(query: string, ignored: readonly string[]): boolean | ParseError {
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

/** The pages of an exporter that are passed through: read-only ones, neither `/reload` nor `/debug/pprof`. */
const exporterPages: ReadonlySet<string> = new Set([
  "/",
  "/metrics",
  "/explain",
  "/stat",
  "/version",
  ...rolePaths.keys(),
]);

function routeNodeRequest(
  { path, query }: RequestTarget,
  { method }: Request,
  { cluster, node, otherByHost }: TargetNode,
): PassthroughRequest {
  if (method !== "GET") return { kind: "not_allowed", allow: "GET" };
  const isApiMetrics = path === "metrics";
  const page = isApiMetrics ? "/metrics" : `/${path.slice("exporter/".length)}`;
  if (!isApiMetrics && !exporterPages.has(page)) {
    const allowed = `one of ${[...exporterPages].map((known) => `/exporter${known}`).join(", ")}`;
    return { kind: "bad_request", problem: { subject: "path", value: `/${path}`, allowed } };
  }
  const search = query === "" || isApiMetrics ? "" : `?${query}`;
  return {
    kind: "node_request",
    request: { cluster, node, target: isApiMetrics ? "api" : "exporter", path: `${page}${search}` },
    otherByHost,
  };
}
