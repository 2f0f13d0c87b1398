import type { AuditedTarget, RouteFinding } from "../../cluster/route-finding.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { badRequest, jsonReply, methodNotAllowed, type Reply, unknownParameter } from "../message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../message/request.ts";

/** What the answer on the audit comes from. */
export interface AuditApiContext {
  readonly routes: {
    /** What is known of each balancer and pooler that is looked at. */
    readonly targets: readonly AuditedTarget[];
    /** How often each is looked at, in ms; 0: never. */
    readonly intervalMs: number;
  };
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** In ms since the epoch. */
  readonly wall: () => number;
}

/** A finding as `GET /audit` shows it. */
export interface RouteFindingDocument extends Omit<RouteFinding, "kind" | "sinceMs" | "clusters"> {
  readonly finding: RouteFinding["kind"];
  readonly clusters: readonly string[];
  /** RFC 3339. */
  readonly since: string;
  readonly for_ms: number;
}

/**
 * Answers `/audit`: where the traffic of balancers and poolers goes, and what differs from the snapshot.
 * @param only the listener's cluster: targets without it, and findings on others, are left out; `null`: all
 */
export function answerAudit(
  { request: { method } }: IncomingCall,
  { query, only }: { readonly query: string; readonly only: string | null },
  context: AuditApiContext,
): Reply {
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const unknown = unknownParameter(new URLSearchParams(query), []);
  if (unknown !== null) return badRequest(unknown);
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(auditDocument(context, only)));
}

/** Describes the audit. @param only as in {@link answerAudit} */
export function auditDocument(context: AuditApiContext, only: string | null): object {
  const isShown = ({ clusters }: { readonly clusters: readonly string[] }): boolean =>
    only === null || clusters.includes(only);
  const targets = context.routes.targets.filter(isShown);
  return {
    interval_ms: context.routes.intervalMs,
    targets: targets.map(({ lookedMsAgo, tookMs, findings, clusters, unknown, ...target }) => ({
      ...target,
      clusters: only === null ? clusters : [only],
      unknown: unknown.filter((cluster) => only === null || cluster === only),
      looked_ms_ago: lookedMsAgo,
      took_ms: tookMs,
      findings: findings.filter(isShown).length,
    })),
    findings: targets.flatMap(({ findings }) => findings.filter(isShown).map((one) => shownFinding(one, context))),
  };
}

function shownFinding(
  { kind, sinceMs, ...finding }: RouteFinding,
  { now, wall }: Pick<AuditApiContext, "now" | "wall">,
): RouteFindingDocument {
  const forMs = Math.max(0, Math.round(now() - sinceMs));
  return { finding: kind, ...finding, since: new Date(wall() - forMs).toISOString(), for_ms: forMs };
}
