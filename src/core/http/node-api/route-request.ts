import type { DocumentName } from "../../cluster/snapshot.ts";
import { ofKnownCompanions, ofWholeCluster, parseCheck, type Check } from "../../health/check.ts";
import { routeOf, routePaths } from "../../health/route.ts";
import type { RoutingContext } from "./routing-context.ts";
import { resolveTargetNode, type TargetNode } from "./target-node.ts";
import { type PassthroughRequest, routePassthrough } from "./route-management.ts";
import { diagnosticsPaths } from "./diagnostics-paths.ts";
import { safeMethods, safeMethodsAllowHeader, type Request } from "../message/request.ts";
import { parseRequestTarget } from "../message/request-target.ts";

/** A check, and what it is about. */
export interface RoutedCheck {
  readonly kind: "check";
  readonly target: TargetNode;
  readonly check: Check;
}

/** A parsed request by what it is for. */
export type RoutedRequest =
  | RoutedCheck
  | { readonly kind: "status"; readonly target: TargetNode }
  | { readonly kind: "document"; readonly target: TargetNode; readonly name: DocumentName }
  | { readonly kind: "operator" }
  /** A diagnostics page on a listener that has none. */
  | { readonly kind: "operator_off"; readonly path: string }
  | { readonly kind: "self"; readonly path: "livez" | "readyz" }
  | PassthroughRequest;

const documents: ReadonlyMap<string, DocumentName> = new Map([
  ["cluster", "cluster"],
  ["config", "config"],
  ["history", "history"],
  ["failsafe", "failsafe"],
]);

/** Parses and routes a request of the node API; `bad_request` if it is invalid. A pure function of its arguments. */
export function routeRequest(request: Request, routing: RoutingContext): RoutedRequest {
  const { scope, rules } = routing;
  const target = parseRequestTarget(scope.node === null ? request.target : asNodesRead(request.target));
  if ("problem" in target) return { kind: "bad_request", problem: target.problem };
  const { path } = target;
  const isBare = target.cluster === null && target.node === null;
  if (isBare && (path === "livez" || path === "readyz")) return ifSafe(request, { kind: "self", path });
  if (diagnosticsPaths.includes(`/${path}`))
    return routing.operatorPages ? { kind: "operator" } : { kind: "operator_off", path };
  const route = routeOf(path);
  const document = documents.get(path);
  const isStatus = path === "patroni" || path === "ha";
  const passthrough = routePassthrough(target, request, routing);
  if (passthrough !== undefined) return passthrough;
  if (route === undefined && document === undefined && !isStatus) return unknownRoute(path, routing);
  const resolved = resolveTargetNode(target, request, scope);
  if ("problem" in resolved) return { kind: "bad_request", problem: resolved.problem };
  if (document !== undefined) return ifSafe(request, { kind: "document", target: resolved, name: document });
  if (route === undefined) return ifSafe(request, { kind: "status", target: resolved });
  const companions = routing.companions?.get(resolved.cluster) ?? [];
  const read = ofKnownCompanions(parseCheck(route, target.query, rules), companions);
  const parsed = resolved.node === null ? ofWholeCluster(read) : read;
  if (!parsed.ok) return { kind: "bad_request", problem: parsed.problem };
  return ifSafe(request, { kind: "check", target: resolved, check: parsed.check });
}

/**
 * What clients of one node send, and nodes answer with 200: more than one slash at the start (vip-manager), and Python's
 * `_` between the digits of a limit.
 */
function asNodesRead(target: string): string {
  return target
    .replace(/^\/{2,}/, "/")
    .replaceAll(/(?<=[?&]lag=)\d[\d_]*\d/g, (digits) => (digits.includes("__") ? digits : digits.replaceAll("_", "")));
}

function ifSafe(request: Request, routed: RoutedRequest): RoutedRequest {
  return safeMethods.includes(request.method) ? routed : { kind: "not_allowed", allow: safeMethodsAllowHeader };
}

/** Paths that only admin listeners have, and that people expect on any listener. */
const adminPaths: readonly string[] = ["drains", "snapshot"];

function unknownRoute(path: string, { operatorPages }: RoutingContext): RoutedRequest {
  const [first = ""] = path.split("/");
  if (adminPaths.includes(first)) {
    const allowed =
      "requested from an admin listener (dialect: admin, by default port 9108), not from a health listener";
    return { kind: "bad_request", problem: { subject: "route", value: `/${path}`, allowed } };
  }
  const known = [
    ...routePaths(),
    "/patroni",
    "/ha",
    ...[...documents.keys()].map((name) => `/${name}`),
    ...(operatorPages ? diagnosticsPaths : []),
    "/livez",
    "/readyz",
  ];
  return {
    kind: "bad_request",
    problem: { subject: "route", value: `/${path}`, allowed: `one of ${known.join(", ")}` },
  };
}
