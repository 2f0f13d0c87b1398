import type { DocumentName } from "../../cluster/snapshot.ts";
import { parseCheck, type Check, type CheckRules } from "../../health/check.ts";
import { routeOf, routePaths } from "../../health/route.ts";
import { resolveTargetNode, type TargetNode, type ListenerScope } from "./target-node.ts";
import { type PassthroughRequest, routePassthrough } from "./route-management.ts";
import { diagnosticsPaths } from "./diagnostics-paths.ts";
import { safeMethods, type Request } from "../message/request.ts";
import { parseRequestTarget } from "../message/request-target.ts";

/** What a request asks of us. */
export type RoutedRequest =
  | { readonly kind: "check"; readonly target: TargetNode; readonly check: Check }
  | { readonly kind: "status"; readonly target: TargetNode }
  | { readonly kind: "document"; readonly target: TargetNode; readonly name: DocumentName }
  | { readonly kind: "operator" }
  /** An operator page on a listener that has none. */
  | { readonly kind: "operator_off"; readonly path: string }
  | { readonly kind: "self"; readonly path: "livez" | "readyz" }
  | PassthroughRequest;

/** What a node-dialect listener goes by in understanding a request. */
export interface RoutingContext {
  readonly scope: ListenerScope;
  readonly rules: CheckRules;
  /** Whether management calls, and questions that only a node can answer, are passed on. */
  readonly passes: boolean;
  /** Whether `/status`, `/explain`, `/verdicts` and `/incident` are answered. */
  readonly operatorPages: boolean;
}

const documents: ReadonlyMap<string, DocumentName> = new Map([
  ["cluster", "cluster"],
  ["config", "config"],
  ["history", "history"],
  ["failsafe", "failsafe"],
]);

/** Understands a request of the node dialect, or says what is not understood. Depends on nothing but its arguments. */
export function routeRequest(request: Request, listening: RoutingContext): RoutedRequest {
  const { scope, rules } = listening;
  const target = parseRequestTarget(request.target);
  if ("problem" in target) return { kind: "bad_request", problem: target.problem };
  const { path } = target;
  const isBare = target.cluster === null && target.node === null;
  if (isBare && (path === "livez" || path === "readyz")) return safely(request, { kind: "self", path });
  if (diagnosticsPaths.includes(`/${path}`))
    return listening.operatorPages ? { kind: "operator" } : { kind: "operator_off", path };
  const route = routeOf(path);
  const document = documents.get(path);
  const isStatus = path === "patroni" || path === "ha";
  const passing = routePassthrough(target, request, listening);
  if (passing !== undefined) return passing;
  if (route === undefined && document === undefined && !isStatus) return unknownRoute(path, listening);
  const address = resolveTargetNode(target, request, scope);
  if ("problem" in address) return { kind: "bad_request", problem: address.problem };
  if (document !== undefined) return safely(request, { kind: "document", target: address, name: document });
  if (route === undefined) return safely(request, { kind: "status", target: address });
  const parsed = parseCheck(route, target.query, rules);
  if (!parsed.ok) return { kind: "bad_request", problem: parsed.problem };
  return safely(request, { kind: "check", target: address, check: parsed.check });
}

function safely(request: Request, question: RoutedRequest): RoutedRequest {
  return safeMethods.includes(request.method) ? question : { kind: "not_allowed", allow: safeMethods.join(", ") };
}

function unknownRoute(path: string, { operatorPages }: RoutingContext): RoutedRequest {
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
