import type { DocumentName } from "../cluster/snapshot.ts";
import { parseCheck, type Check, type CheckRules } from "../health/check.ts";
import { routeOf, routePaths } from "../health/route.ts";
import { resolveAddress, type Address, type Bound } from "./address.ts";
import { type Passing, understandPassing } from "./management.ts";
import { operatorPaths } from "./operator-paths.ts";
import { safeMethods, type Request } from "./request.ts";
import { parseTarget } from "./target.ts";

/** What a request asks of us. */
export type Question =
  | { readonly kind: "check"; readonly address: Address; readonly check: Check }
  | { readonly kind: "status"; readonly address: Address }
  | { readonly kind: "document"; readonly address: Address; readonly name: DocumentName }
  | { readonly kind: "operator" }
  /** An operator page on a listener that has none. */
  | { readonly kind: "operator_off"; readonly path: string }
  | { readonly kind: "self"; readonly path: "livez" | "readyz" }
  | Passing;

/** What a node-dialect listener goes by in understanding a request. */
export interface Listening {
  readonly bound: Bound;
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

/** The longest target that is read, in characters; what is longer is a 414. */
export const targetMax = 2_048;

/** Understands a request of the node dialect, or says what is not understood. Depends on nothing but its arguments. */
export function understand(request: Request, listening: Listening): Question {
  const { bound, rules } = listening;
  const target = parseTarget(request.target);
  if ("problem" in target) return { kind: "bad_request", problem: target.problem };
  const { path } = target;
  const isBare = target.cluster === null && target.node === null;
  if (isBare && (path === "livez" || path === "readyz")) return safely(request, { kind: "self", path });
  if (operatorPaths.includes(`/${path}`)) return listening.operatorPages ? { kind: "operator" } : { kind: "operator_off", path };
  const route = routeOf(path);
  const document = documents.get(path);
  const isStatus = path === "patroni" || path === "ha";
  const passing = understandPassing(target, request, listening);
  if (passing !== undefined) return passing;
  if (route === undefined && document === undefined && !isStatus) return unknownRoute(path, listening);
  const address = resolveAddress(target, request, bound);
  if ("problem" in address) return { kind: "bad_request", problem: address.problem };
  if (document !== undefined) return safely(request, { kind: "document", address, name: document });
  if (route === undefined) return safely(request, { kind: "status", address });
  const parsed = parseCheck(route, target.query, rules);
  if (!parsed.ok) return { kind: "bad_request", problem: parsed.problem };
  return safely(request, { kind: "check", address, check: parsed.check });
}

function safely(request: Request, question: Question): Question {
  return safeMethods.includes(request.method) ? question : { kind: "not_allowed", allow: safeMethods.join(", ") };
}

function unknownRoute(path: string, { operatorPages }: Listening): Question {
  const known = [
    ...routePaths(),
    "/patroni",
    "/ha",
    ...[...documents.keys()].map((name) => `/${name}`),
    ...(operatorPages ? operatorPaths : []),
    "/livez",
    "/readyz",
  ];
  return { kind: "bad_request", problem: { thing: "route", value: `/${path}`, allowed: `one of ${known.join(", ")}` } };
}
