import { oneOf } from "../../cluster/values/one-of.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { clusterNamed } from "../../cluster/lookup.ts";
import { type ListenerScope, hostConflict, resolveTargetNode } from "../node-api/target-node.ts";
import { diagnosticsPaths, type diagnosticsRoutes } from "../node-api/diagnostics-paths.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { type Reply, badRequest, jsonReply, methodNotAllowed, printable } from "../message/reply.ts";
import { safeMethods, safeMethodsAllowHeader } from "../message/request.ts";
import { type RequestTarget, parseRequestTarget } from "../message/request-target.ts";
import { servePage } from "../pages/page.ts";
import { type RenderingContext, renderInOneStep, renderSliced } from "../pages/rendering.ts";
import type { DiagnosticsRequest, DiagnosticsSources } from "./diagnostics-sources.ts";
import { eventsReply } from "./events-reply.ts";
import { explainClusterReply } from "./explain-cluster-reply.ts";
import { explainReply } from "./explain-reply.ts";
import { incidentReply } from "./incident-reply.ts";
import { findTwinsAmong } from "../../health/conditions/twins.ts";
import type { AskedOverview } from "../../health/documents/asked-nodes.ts";
import { nodeOverview, type NodeOverview } from "../../health/documents/node-overview.ts";
import { clusterHead } from "../../health/documents/overview.ts";
import { situationOf } from "../../health/documents/situation.ts";
import { viewAt } from "../../health/evidence/leadership/cluster-view.ts";

type RenderPage = (
  request: DiagnosticsRequest,
  sources: DiagnosticsSources,
  rendering: RenderingContext,
) => Promise<Reply | null>;

const nodePages: { readonly [route in (typeof diagnosticsRoutes)[number]]: RenderPage } = {
  explain: (request, sources, rendering) =>
    request.target.node === null
      ? explainClusterReply(request, sources, rendering)
      : renderInOneStep(rendering, () => explainReply(request, sources)),
  verdicts: (request, sources, rendering) => renderInOneStep(rendering, () => verdictsReply(request, sources)),
  incident: incidentReply,
};
const pagesByRoute: ReadonlyMap<string, RenderPage> = new Map(Object.entries(nodePages));

/** Whether a request target is a diagnostics page. `/status` is never of a single node. */
export function isDiagnosticsTarget(target: string): boolean {
  const parsed = parseRequestTarget(target);
  if ("problem" in parsed) return false;
  const { path, node } = parsed;
  return pagesByRoute.has(path) || path === "events" || (path === "status" && node === null);
}

/**
 * Serves `/status`, `/events`, `/explain?node=…&check=…` (without a node: of the whole cluster),
 * `/nodes/{node}/verdicts` and `/incident?around=…`. A request names the node in every way in which a check names it,
 * or by `node=`. Pages are rendered one at a time.
 * @returns the refusal of a request that names no page or an invalid target; `null` if the response is written
 */
export async function answerDiagnostics(
  call: IncomingCall,
  scope: ListenerScope,
  sources: DiagnosticsSources,
): Promise<Reply | null> {
  const { request } = call;
  const target = parseRequestTarget(request.target);
  if ("problem" in target || !isDiagnosticsTarget(request.target))
    return badRequest({ subject: "route", value: request.target, allowed: diagnosticsPaths.join(", ") });
  if (!safeMethods.includes(request.method)) return methodNotAllowed(request.method, safeMethodsAllowHeader);
  const { gate, onAnswer = () => {} } = sources;
  if (target.path === "events") {
    const render = (rendering: RenderingContext): Promise<Reply | null> =>
      eventsReply(target, scope, { sources, rendering });
    return servePage({ gate, name: "events", onAnswer, render }, call);
  }
  const renderPage = pagesByRoute.get(target.path);
  if (renderPage === undefined) {
    const selection: StatusSelection = [scope.cluster, target.cluster];
    const render = (rendering: RenderingContext): Promise<Reply | null> =>
      statusPageReply(selection, sources, rendering);
    return servePage({ gate, name: "status", onAnswer, render }, call);
  }
  const query = new URLSearchParams(target.query);
  const resolved = resolveTargetNode(withQueryNode(target, query), request, { ...scope, wholeCluster: true });
  if ("problem" in resolved) return badRequest(resolved.problem);
  const conflict = hostConflict(resolved.otherByHost, sources.snapshot());
  if (conflict !== null) return badRequest(conflict);
  const render = (rendering: RenderingContext): Promise<Reply | null> =>
    renderPage({ target: resolved, query }, sources, rendering);
  return servePage({ gate, name: target.path, onAnswer, render }, call);
}

/** Completes a target from its query: `node=pg2`, `node=demo/pg2`, `cluster=demo`, or the target in `check=`. */
function withQueryNode(target: RequestTarget, query: URLSearchParams): RequestTarget {
  const node = query.get("node");
  const check = query.get("check");
  const parsedCheck = check === null ? null : parseRequestTarget(check);
  const byCheck = parsedCheck === null || "problem" in parsedCheck ? null : parsedCheck;
  const slash = node?.lastIndexOf("/") ?? -1;
  const byNode =
    node === null ? null : { node: node.slice(slash + 1), cluster: slash < 0 ? null : node.slice(0, slash) };
  return {
    ...target,
    node: target.node ?? byNode?.node ?? byCheck?.node ?? null,
    cluster: target.cluster ?? byNode?.cluster ?? query.get("cluster") ?? byCheck?.cluster ?? null,
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
      allowed: oneOf(state?.index.keys() ?? [], "node"),
    });
  const changes = sources
    .changes(cluster, node)
    .map(({ atWallMs, before, after, failure }) => ({ at: new Date(atWallMs).toISOString(), before, after, failure }));
  return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ cluster, node, changes }), [
    "X-Rolecall-Node",
    printable(node),
  ]);
}

type StatusSources = Pick<
  DiagnosticsSources,
  "snapshot" | "policy" | "now" | "wall" | "asked" | "askedChecks" | "brought" | "ofFeatures" | "config"
>;

/** The cluster that the listener is bound to, and the one that the path names. Others are left out. */
type StatusSelection = readonly [boundTo: string | null, selected: string | null];

/**
 * Answers `/status` with every cluster of the listener, and its nodes with what each is fit for (see `Overview`), and
 * with the configuration in force (`ConfigOverview`).
 */
async function statusPageReply(
  selection: StatusSelection,
  sources: StatusSources,
  rendering: RenderingContext,
): Promise<Reply | null> {
  const askedOf = await sources.asked();
  const pieces = statusPieces(selection, { ...sources, askedOf });
  return renderSliced(pieces, rendering, ["Content-Type", "application/json"]);
}

interface StatusInputs extends Omit<StatusSources, "asked"> {
  readonly askedOf: (cluster: ClusterState) => AskedOverview;
}

function* statusPieces([boundTo, selected]: StatusSelection, inputs: StatusInputs): Generator<string> {
  const { snapshot, policy, askedOf, config } = inputs;
  const { instance, sequence, clusters } = snapshot();
  const [nowMs, wallMs] = [inputs.now(), inputs.wall()];
  const twinsOf = findTwinsAmong(clusters, policy);
  // The configuration is of all clusters.
  const top = { instance, snapshot: sequence, config: boundTo === null ? config() : null };
  yield `${JSON.stringify(top).slice(0, -1)},"clusters":[`;
  let separator = "";
  for (const state of clusters) {
    const clusterPolicy = [boundTo, selected].every((cluster) => cluster === null || state.name === cluster)
      ? policy(state.name)
      : undefined;
    if (clusterPolicy === undefined) continue;
    const view = viewAt(state, clusterPolicy, nowMs);
    const asked = askedOf(state);
    const head = { ...clusterHead(view), asked_non_members: asked.nonMembers, ...inputs.ofFeatures(state.name) };
    yield `${separator}${JSON.stringify(head).slice(0, -1)},"nodes":[`;
    separator = ",";
    const checks = inputs.askedChecks(state.name);
    const nodes: NodeOverview[] = [];
    for (const observation of state.nodes) {
      const node = nodeOverview(view, observation, checks);
      yield `${nodes.length === 0 ? "" : ","}${JSON.stringify({ ...node, ...asked.nodes.get(observation.node.name) })}`;
      nodes.push(node);
    }
    const known = { nodes, asked: checks, wallMs, twins: twinsOf(view), brought: inputs.brought(state.name) };
    yield `],"situation":${JSON.stringify(situationOf(view, known))}}`;
  }
  yield "]}";
}
