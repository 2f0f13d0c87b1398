import type { DocumentName } from "../cluster/snapshot.ts";
import { parseCheck, type Check, type CheckRules, type Misunderstanding } from "../health/check.ts";
import { routeOf, routePaths } from "../health/route.ts";
import { resolveAddress, type Address, type Bound } from "./address.ts";
import { operatorPaths } from "./operator.ts";
import { safeMethods, type Request } from "./request.ts";
import { parseTarget } from "./target.ts";

/** What a request asks of us. */
export type Question =
  | { readonly kind: "check"; readonly address: Address; readonly check: Check }
  | { readonly kind: "status"; readonly address: Address }
  | { readonly kind: "document"; readonly address: Address; readonly name: DocumentName }
  | { readonly kind: "operator" }
  | { readonly kind: "self"; readonly path: "livez" | "readyz" }
  | { readonly kind: "bad_request"; readonly problem: Misunderstanding }
  | { readonly kind: "not_allowed"; readonly allow: string }
  | { readonly kind: "forbidden"; readonly call: string };

/** What a node-dialect listener goes by in understanding a request. */
export interface Listening {
  readonly bound: Bound;
  readonly rules: CheckRules;
}

const documents: ReadonlyMap<string, DocumentName> = new Map([
  ["cluster", "cluster"],
  ["config", "config"],
  ["history", "history"],
  ["failsafe", "failsafe"],
]);

/** Calls that change a cluster, and the methods they take (seeds/node-api.md). */
const managementCalls: ReadonlyMap<string, readonly string[]> = new Map([
  ["config", ["PATCH", "PUT"]],
  ["switchover", ["POST", "DELETE"]],
  ["failover", ["POST"]],
  ["restart", ["POST", "DELETE"]],
  ["reload", ["POST"]],
  ["reinitialize", ["POST"]],
]);

/** The longest target that is read, in characters; what is longer is a 414. */
export const targetMax = 2_048;

/** Understands a request of the node dialect, or says what is not understood. Depends on nothing but its arguments. */
export function understand(request: Request, { bound, rules }: Listening): Question {
  const target = parseTarget(request.target);
  if ("problem" in target) return { kind: "bad_request", problem: target.problem };
  const { path } = target;
  const isBare = target.cluster === null && target.node === null;
  if (isBare && (path === "livez" || path === "readyz")) return safely(request, { kind: "self", path });
  if (operatorPaths.includes(`/${path}`)) return { kind: "operator" };
  const route = routeOf(path);
  const document = documents.get(path);
  const isStatus = path === "patroni" || path === "ha";
  const calls = managementCalls.get(path);
  if (route === undefined && document === undefined && !isStatus && calls === undefined) return unknownRoute(path);
  if (calls?.includes(request.method) === true) return { kind: "forbidden", call: `${request.method} /${path}` };
  if (route === undefined && document === undefined && !isStatus) return { kind: "not_allowed", allow: (calls ?? []).join(", ") };
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

function unknownRoute(path: string): Question {
  const known = [
    ...routePaths(),
    "/patroni",
    "/ha",
    ...[...documents.keys()].map((name) => `/${name}`),
    ...operatorPaths,
    "/livez",
    "/readyz",
  ];
  return { kind: "bad_request", problem: { thing: "route", value: `/${path}`, allowed: `one of ${known.join(", ")}` } };
}
