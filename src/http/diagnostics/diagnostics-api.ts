import { clusterNamed } from "../../cluster/lookup.ts";
import type { Recorded } from "../../cluster/outcome.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";

import type { HealthPolicy } from "../../health/health-policy.ts";
import type { LoggedChange } from "../../health/explain/summary.ts";
import { hostConflict, resolveTargetNode, type TargetNode, type ListenerScope } from "../node-api/target-node.ts";
import { explainReply } from "./explain-reply.ts";
import { incidentReply } from "./incident-reply.ts";
import type { diagnosticsRoutes } from "../node-api/diagnostics-paths.ts";
import { paged, type Rendering } from "../pages/page.ts";
import type { PageGate } from "../pages/page-gate.ts";
import type { Delegated } from "../message/passthrough.ts";
import { badRequest, errorReply, jsonReply, printable, type Reply } from "../message/reply.ts";
import { safeMethods, type Request } from "../message/request.ts";
import { statusReply } from "./status-page.ts";
import { parseRequestTarget, type RequestTarget } from "../message/request-target.ts";

/** What an operator's questions are answered from. The app hands it in. */
export interface DiagnosticsSources {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** Our clock, and wall time, in ms. */
  readonly now: () => number;
  readonly wall: () => number;
  readonly changes: (cluster: string, node: string) => readonly LoggedChange[];
  readonly recorded: (cluster: string, fromWallMs: number, toWallMs: number) => readonly Recorded[];
  /** Limits how many pages are rendered at a time, and how often. */
  readonly gate: PageGate;
  /** Called with the status of each page that is answered. */
  readonly onAnswer?: (status: number) => void;
  /** Who was accused of being detached or stalled at a wall-clock instant, by node. */
  readonly accused: (cluster: string, wallMs: number) => ReadonlyMap<string, readonly string[]>;
}

/** A question with what its query says. */
export interface DiagnosticsRequest {
  readonly target: TargetNode;
  readonly query: URLSearchParams;
}

type Answering = (
  asked: DiagnosticsRequest,
  sources: DiagnosticsSources,
  rendering: Rendering,
) => Reply | Promise<Reply | null>;

const answering: { readonly [question in (typeof diagnosticsRoutes)[number]]: Answering } = {
  explain: explainReply,
  verdicts: verdictsReply,
  incident: incidentReply,
};
const questions: ReadonlyMap<string, Answering> = new Map(Object.entries(answering));

/**
 * Answers what a person asks: `/status`, `/explain?node=…&check=…`, `/nodes/{node}/verdicts`, `/incident?around=…`. The node may be named
 * in every way a check may name it, and by `node=`. Pages are rendered one at a time, in slices.
 * @returns `null` where the path is none of these
 */
export function answerDiagnostics(
  request: Request,
  scope: ListenerScope,
  sources: DiagnosticsSources,
): Reply | Delegated | null {
  const target = parseRequestTarget(request.target);
  if ("problem" in target) return null;
  const question = questions.get(target.path);
  const isOverview = target.path === "status" && target.node === null;
  if (question === undefined && !isOverview) return null;
  if (!safeMethods.includes(request.method)) {
    const allow = safeMethods.join(", ");
    return errorReply(405, "method_not_allowed", {
      message: `Cannot ${request.method} this path: allowed is ${allow}`,
      headers: ["Allow", allow],
    });
  }
  const { gate, onAnswer = () => {} } = sources;
  if (question === undefined) {
    const clusters = [scope.cluster, target.cluster];
    return paged({ gate, name: "status", onAnswer, render: (rendering) => statusReply(clusters, sources, rendering) });
  }
  const query = new URLSearchParams(target.query);
  const address = resolveTargetNode(namedBy(target, query), request, { ...scope, wholeCluster: true });
  if ("problem" in address) return badRequest(address.problem);
  const problem = hostConflict(address.otherByHost, sources.snapshot());
  if (problem !== null) return badRequest(problem);
  return paged({
    gate,
    name: target.path,
    onAnswer,
    render: (rendering) => question({ target: address, query }, sources, rendering),
  });
}

/** `node=pg2`, `node=demo/pg2` and `cluster=demo` name what the path does not. */
function namedBy(target: RequestTarget, query: URLSearchParams): RequestTarget {
  const node = query.get("node");
  const check = query.get("check");
  const inner = check === null ? null : parseRequestTarget(check);
  const asked = inner === null || "problem" in inner ? null : inner;
  const cut = node?.lastIndexOf("/") ?? -1;
  const byNode = node === null ? null : { node: node.slice(cut + 1), cluster: cut < 0 ? null : node.slice(0, cut) };
  return {
    ...target,
    node: target.node ?? byNode?.node ?? asked?.node ?? null,
    cluster: target.cluster ?? byNode?.cluster ?? query.get("cluster") ?? asked?.cluster ?? null,
  };
}

function verdictsReply({ target }: DiagnosticsRequest, sources: DiagnosticsSources): Reply {
  const { cluster, node } = target;
  if (node === null) return badRequest({ subject: "node", value: "none named", allowed: "/nodes/{node}/verdicts" });
  const state = clusterNamed(sources.snapshot(), cluster);
  if (state?.index.has(node) !== true)
    return badRequest({
      subject: "node",
      value: node,
      allowed: `one of ${[...(state?.index.keys() ?? [])].join(", ")}`,
    });
  const changes = sources
    .changes(cluster, node)
    .map(({ atWallMs, before, after, failure }) => ({ at: new Date(atWallMs).toISOString(), before, after, failure }));
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, node, changes }), [
    "X-Rolecall-Node",
    printable(node),
  ]);
}
