import type { RouteFinding } from "./core/route-finding.ts";
import type { FeatureCall } from "../../core/http/admin-api/admin-api.ts";
import {
  badRequest,
  errorReply,
  jsonReply,
  methodNotAllowed,
  type Reply,
  unknownParameter,
} from "../../core/http/message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../../core/http/message/request.ts";
import type { RunningAudit } from "./open-audit.ts";

/** A finding as `GET /audit` shows it. */
export interface RouteFindingDocument extends Omit<
  RouteFinding,
  "kind" | "sinceMs" | "clusters" | "isUnusable" | "isOfReads"
> {
  readonly finding: RouteFinding["kind"];
  readonly clusters: readonly string[];
  /** Whether no client can use the pool, although a node is fit. */
  readonly unusable: boolean;
  /** RFC 3339. */
  readonly since: string;
  readonly for_ms: number;
}

/**
 * Answers `/audit`: where the traffic of balancers and poolers goes, and what differs from the snapshot.
 * @param running `null`: nothing is looked at
 */
export function answerAudit(running: Audited | null, { call, path, query, only, ...clocks }: FeatureCall): Reply {
  const { method } = call.request;
  if (path !== "") return errorReply(404, "not_found", { message: `Cannot find /audit/${path}: the path is /audit` });
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const unknown = unknownParameter(new URLSearchParams(query), []);
  if (unknown !== null) return badRequest(unknown);
  const document = auditDocument(running ?? { targets: [], intervalMs: 0 }, only, clocks);
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(document));
}

/**
 * Answers `/clusters/{cluster}/audit`: the ways that clients take to a cluster through each balancer and pooler.
 * @param running `null`: nothing is looked at
 */
export function answerRoads(running: RunningAudit | null, { call, cluster, query, ...clocks }: FeatureCall): Reply {
  const { method } = call.request;
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const unknown = unknownParameter(new URLSearchParams(query), []);
  if (unknown !== null) return badRequest(unknown);
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(roadsDocument(running, cluster ?? "", clocks)));
}

/** Describes the ways of the clients of one cluster. @param running `null`: nothing is looked at */
export function roadsDocument(
  running: Pick<RunningAudit, "targets" | "intervalMs" | "findings" | "poolOf"> | null,
  cluster: string,
  clocks: Clocks,
): object {
  const targets = (running?.targets ?? []).filter(({ clusters }) => clusters.includes(cluster));
  return {
    cluster,
    at: new Date(clocks.wall()).toISOString(),
    interval_ms: running?.intervalMs ?? 0,
    targets: targets.map(({ target, program, address, up, problem, unknown, lookedMsAgo, roads }) => ({
      target,
      program,
      address,
      up,
      problem,
      looked_ms_ago: lookedMsAgo,
      is_compared: !unknown.includes(cluster),
      pools: roads
        .filter((road) => road.cluster === cluster)
        .map((road) => ({ ...(running?.poolOf(target, road.backend) ?? { pool: null, check: null }), ...road })),
    })),
    findings: (running?.findings(cluster) ?? []).map((one) => shownFinding(one, clocks)),
  };
}

/** What is shown of the audit. */
type Audited = Pick<RunningAudit, "targets" | "intervalMs">;
type Clocks = Pick<FeatureCall, "now" | "wall">;

/**
 * Describes the audit.
 * @param only a listener's cluster: targets without it, and findings on others, are left out; `null`: all
 */
export function auditDocument({ targets: all, intervalMs }: Audited, only: string | null, clocks: Clocks): object {
  const isShown = ({ clusters }: { readonly clusters: readonly string[] }): boolean =>
    only === null || clusters.includes(only);
  const targets = all.filter(isShown);
  return {
    interval_ms: intervalMs,
    targets: targets.map(({ lookedMsAgo, tookMs, findings, suspected, clusters, unknown, unled, ...rest }) => ({
      target: rest.target,
      program: rest.program,
      address: rest.address,
      clusters: only === null ? clusters : [only],
      up: rest.up,
      problem: rest.problem,
      servers: rest.servers,
      unknown: unknown.filter((cluster) => only === null || cluster === only),
      without_fit_node: unled,
      looked_ms_ago: lookedMsAgo,
      took_ms: tookMs,
      findings: findings.filter(isShown).length,
      suspected: suspected.filter(isShown).map((one) => shownFinding(one, clocks)),
    })),
    findings: targets.flatMap(({ findings }) => findings.filter(isShown).map((one) => shownFinding(one, clocks))),
  };
}

function shownFinding(finding: RouteFinding, { now, wall }: Clocks): RouteFindingDocument {
  const { kind, sinceMs, isUnusable, isOfReads: _, ...shown } = finding;
  const forMs = Math.max(0, Math.round(now() - sinceMs));
  return {
    finding: kind,
    unusable: isUnusable,
    ...shown,
    since: new Date(wall() - forMs).toISOString(),
    for_ms: forMs,
  };
}
