import { answerDiagnostics, isDiagnosticsTarget } from "../diagnostics/diagnostics-api.ts";
import type { DiagnosticsSources } from "../diagnostics/diagnostics-sources.ts";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import type { TokenScope } from "../message/handler.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import { type Reply, errorReply, jsonReply, methodNotAllowed } from "../message/reply.ts";
import { type Request, safeMethods, safeMethodsAllowHeader } from "../message/request.ts";
import { type RequestTarget, parseRequestTarget } from "../message/request-target.ts";
import { answerSelf } from "../node-api/answer.ts";
import type { DescribeListeners } from "../node-api/listener-directory.ts";
import { diagnosticsPaths } from "../node-api/diagnostics-paths.ts";
import type { ListenerScope } from "../node-api/target-node.ts";
import { scrapesMax, servePage } from "../pages/page.ts";
import { type HintApiContext, answerHint, hintScopeOf, isHintCall, isHintPath } from "./hint-api.ts";
import { type DrainsApiContext, answerDrainRequest } from "./drains-api.ts";
import { feedPathOf } from "./feed-paths.ts";
import { answerPools, type PoolsApiContext } from "./pools-api.ts";
import { isServed, unknownCluster } from "./served-cluster.ts";
import type { PageGate } from "../pages/page-gate.ts";
import type { SnapshotLongPoll } from "./snapshot-long-poll.ts";
import { shownDocument } from "../../cluster/documents/report.ts";
import { clusterNamed, nodeNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";

/** What an admin listener serves. */
export interface AdminApiContext {
  /** Why this process should not receive traffic; `null` if it should. */
  readonly unready: () => string | null;
  readonly scope: ListenerScope;
  readonly diagnostics: DiagnosticsSources;
  readonly snapshots: SnapshotLongPoll;
  /** The metrics of this process and of the nodes in the Prometheus text format, with its content type. */
  readonly metrics: () => Promise<{ readonly pieces: readonly Buffer[]; readonly contentType: string }>;
  readonly drains: DrainsApiContext;
  readonly hints: HintApiContext;
  /** This process, its workers and listeners, the checks of balancers, and the pushes to them. */
  readonly edges: () => Promise<object>;
  readonly pools: PoolsApiContext;
  /** The answers of features, by the first part of the path or by two; by none: what no other path answers. */
  readonly features: ReadonlyMap<string, AnswerOfFeature>;
  /** The same below `/clusters/{cluster}/`, by the whole path. */
  readonly clusterRoutes: ReadonlyMap<string, AnswerOfFeature>;
  readonly access: ListenerAccess;
  /** Says which listeners the sender of a request can reach. */
  readonly listeners: DescribeListeners;
}

/** A request to a path of a feature on an admin listener. */
export interface FeatureCall {
  readonly call: IncomingCall;
  /** What follows the parts that the feature answers by, without its slash; below a cluster the whole path. */
  readonly path: string;
  /** The cluster that the path names; `null`: none. */
  readonly cluster: string | null;
  /** The node that a path below a node names; `null`: any other path. */
  readonly node: string | null;
  readonly query: string;
  /** The listener's cluster; `null`: all. */
  readonly only: string | null;
  /** The answer for a path that the feature does not have. */
  readonly noSuchPath: () => Reply;
  /** What the listener allows whom. */
  readonly access: ListenerAccess;
  /** Limits the pages of all listeners together. */
  readonly gate: PageGate;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** In ms since the epoch. */
  readonly wall: () => number;
}

/** Answers a request to a path of a feature. `null`: the response is written. */
export type AnswerOfFeature = (call: FeatureCall) => Reply | null | Promise<Reply | null>;

/** The calls that have tokens of their own (`pause_tokens`), whole, so that a token permits no other path. */
const tokenPaths: readonly (readonly [TokenScope, RegExp])[] = [
  ["pause", /^(?:pauses(?:\/[\w.:-]{1,128}(?:\/heartbeat)?)?|claims(?:\/[\w.:-]{1,128})?)$/],
];

/** Which calls of an admin listener tokens of their own permit. */
export function adminScopeOf(request: Request): TokenScope | null {
  if (feedPathOf(request) !== null) return "feed";
  const path = barePathOf(parseRequestTarget(request.target));
  return hintScopeOf(request) ?? tokenPaths.find(([, calls]) => calls.test(path))?.[0] ?? null;
}

const ownPaths = ["/metrics", "/snapshot", "/drains", "/pools", "/hint", "/livez", "/readyz", "/edges"];

/**
 * Answers a request of an admin listener: `/metrics`, `/snapshot`, `/drains`, `/pools`, `/hint`, `/livez`, `/readyz`,
 * `/edges`, those of features, and the diagnostics pages.
 * @returns `null` if the response is written
 */
export async function answerAdminRequest(
  call: IncomingCall,
  { scope, ...sources }: AdminApiContext,
): Promise<Reply | null> {
  const { request, message } = call;
  if (isHintCall(request)) return answerHint(call, scope.cluster, sources.hints);
  if (isHintPath(request.target)) return methodNotAllowed(request.method, "POST");
  if (isDiagnosticsTarget(request.target)) return answerDiagnostics(call, scope, sources.diagnostics);
  const target = parseRequestTarget(request.target);
  const path = barePathOf(target);
  const isBare = !("problem" in target) && target.cluster === null && target.node === null;
  if (!("problem" in target) && target.node !== null && target.path === "document")
    return nodeDocumentReply(call.request.method, target, { scope, snapshot: sources.diagnostics.snapshot });
  const answerOfCluster = clusterAnswer(target, sources.clusterRoutes);
  if (answerOfCluster !== null) {
    const { cluster, node, query } = answerOfCluster;
    if (!isServed(scope, cluster)) return unknownCluster(cluster);
    const { answer, path: below } = answerOfCluster;
    const noSuchPath = (): Reply => notFound(request, sources.features);
    return answer({ call, path: below, cluster, node, noSuchPath, ...aboutCall(sources, scope, query) });
  }
  if (path === "drains" || path.startsWith("drains/"))
    return answerDrainRequest(path, call, { drains: sources.drains, only: scope.cluster });
  if (isBare && (path === "pools" || path.startsWith("pools/")))
    return answerPools(call, { path, query: target.query, only: scope.cluster }, sources.pools);
  const isOwn = isBare && path !== "" && ownPaths.includes(`/${path}`);
  const answerOfFeature = isBare && !isOwn ? featureAnswer(path, sources.features) : null;
  if (isBare && answerOfFeature !== null) {
    const about = aboutCall(sources, scope, target.query);
    const noSuchPath = (): Reply => notFound(request, sources.features);
    return answerOfFeature.answer({
      call,
      path: answerOfFeature.below,
      cluster: null,
      node: null,
      noSuchPath,
      ...about,
    });
  }
  if (!isOwn) return notFound(request, sources.features);
  if (!safeMethods.includes(request.method)) return methodNotAllowed(request.method, safeMethodsAllowHeader);
  if (path === "edges") return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify(await sources.edges()));
  if (isBare && path === "snapshot") return sources.snapshots.answer(target.query, message.socket, scope.cluster);
  if (path === "livez" || path === "readyz") return answerSelf(path, sources.unready(), sources.listeners(message));
  const render = (): Promise<Reply> => metricsReply(sources);
  return servePage({ gate: sources.diagnostics.gate, name: "metrics", runningMax: scrapesMax, render }, call);
}

/** The answer of a feature to a path below a cluster, or below one of its nodes; `null`: no feature has that path. */
function clusterAnswer(
  target: ReturnType<typeof parseRequestTarget>,
  routes: AdminApiContext["clusterRoutes"],
): (RequestTarget & { readonly cluster: string; readonly answer: AnswerOfFeature }) | null {
  if ("problem" in target || target.cluster === null) return null;
  const answer = routes.get(target.node === null ? target.path : `nodes/{node}/${target.path}`);
  return answer === undefined ? null : { ...target, cluster: target.cluster, answer };
}

/** The answer of a feature to any other path, and what is left of that; `null`: no feature has it. */
function featureAnswer(
  path: string,
  routes: AdminApiContext["features"],
): { readonly answer: AnswerOfFeature; readonly below: string } | null {
  const parts = path.split("/");
  for (const length of [2, 1, 0]) {
    const answer = parts.length < length ? undefined : routes.get(parts.slice(0, length).join("/"));
    if (answer !== undefined) return { answer, below: parts.slice(length).join("/") };
  }
  return null;
}

/** What every call of a feature has beside its path. */
function aboutCall(
  { access, diagnostics: { gate, now, wall } }: Pick<AdminApiContext, "access" | "diagnostics">,
  { cluster: only }: ListenerScope,
  query: string,
): Omit<FeatureCall, "call" | "path" | "cluster" | "node" | "noSuchPath"> {
  return { query, only, access, gate, now, wall };
}

/** The path of a target that names neither a cluster nor a node; empty for any other. */
function barePathOf(target: ReturnType<typeof parseRequestTarget>): string {
  return "problem" in target || target.cluster !== null || target.node !== null ? "" : target.path;
}

function notFound({ target }: Request, features: AdminApiContext["features"]): Reply {
  const paths = [...ownPaths, ...pathsOf(features), ...diagnosticsPaths].join(", ");
  const page = features.has("") ? "; a browser gets a page at /" : "";
  return errorReply(404, "not_found", { message: `Cannot find ${target}: an admin listener has ${paths}${page}` });
}

function pathsOf(features: AdminApiContext["features"]): readonly string[] {
  return [...features.keys()].filter((name) => name !== "").map((name) => `/${name}`);
}

async function metricsReply({ metrics }: Pick<AdminApiContext, "metrics">): Promise<Reply> {
  const { pieces, contentType } = await metrics();
  const headers = ["Cache-Control", "no-store", "Content-Type", contentType];
  return { status: 200, phrase: "OK", headers, body: Buffer.alloc(0), pieces };
}

/** What a node's document is found in. */
interface NodeDocumentContext {
  readonly scope: ListenerScope;
  readonly snapshot: () => Snapshot;
}

/** Answers `/clusters/{cluster}/nodes/{node}/document` with the status document of the node's last report. */
function nodeDocumentReply(
  method: string,
  target: Pick<RequestTarget, "cluster" | "node">,
  { scope, snapshot }: NodeDocumentContext,
): Reply {
  if (!safeMethods.includes(method)) return methodNotAllowed(method, safeMethodsAllowHeader);
  const only = scope.clusters.length === 1 ? (scope.clusters[0] ?? null) : null;
  const cluster = target.cluster ?? scope.cluster ?? only;
  const state = cluster === null || !isServed(scope, cluster) ? undefined : clusterNamed(snapshot(), cluster);
  const observation = state === undefined || target.node === null ? undefined : nodeNamed(state, target.node);
  const report = observation?.report ?? null;
  if (observation === undefined || report === null) {
    const message = `Cannot show a document: ${JSON.stringify(target.node)} must be a node of this listener that has answered`;
    return errorReply(404, "no_document", { message });
  }
  const head = { cluster, node: target.node, observed_at: new Date(observation.sentAtWallMs).toISOString() };
  return jsonReply(
    { code: 200, phrase: "OK" },
    `${JSON.stringify(head).slice(0, -1)},"document":${shownDocument(report)}}`,
  );
}
