import { oneOf } from "../../cluster/values/one-of.ts";
import { clusterNamed, nodeNamed } from "../../cluster/lookup.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { ClusterState, DocumentName, Snapshot } from "../../cluster/snapshot.ts";
import { plainCheck, type Check } from "../../health/check.ts";
import { judgeMember, judgePool } from "../../health/rules/pool.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import { mayLackMembers } from "../../health/evidence/node/listed-members.ts";
import { viewAt, type ClusterView } from "../../health/evidence/leadership/cluster-view.ts";
import { unfit } from "../../health/verdict.ts";
import { withServerState } from "./haproxy-server-state.ts";
import type { ListenerDirectory } from "./listener-directory.ts";
import type { TargetNode } from "./target-node.ts";
import {
  badRequest,
  errorReply,
  documentReply,
  jsonReply,
  methodNotAllowed,
  printable,
  type Reply,
} from "../message/reply.ts";
import type { Request } from "../message/request.ts";
import type { RoutedRequest } from "./route-request.ts";
import { statusReply, verdictReply, type JudgedNode, type TimedReply } from "./verdict-reply.ts";

/** What answers are computed from. */
export interface JudgeInputs {
  readonly snapshot: Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
  /** Why this process should not receive traffic; `null` if it should. */
  readonly unready: () => string | null;
}

/** The requests that are answered from memory. */
export type MemoryRequest = Exclude<
  RoutedRequest,
  { readonly kind: "management" | "node_request" | "operator" | "self" }
>;

/** A request whose reply is made from one cluster's state alone. */
export type ClusterRequest = Extract<RoutedRequest, { readonly kind: "check" | "status" }>;

/**
 * How old `observed_at` and `snapshot` may be in a cached reply, in ms. A report that changes only ages does not end
 * it.
 */
const keptMsMax = 1_000;

/**
 * Answers a request about a cluster's nodes, and says how long the reply may be kept. Pure.
 * @returns the reply, and the instant up to which it may be kept while the cluster's `revision` stays the same
 */
export function answerCluster(question: ClusterRequest, request: Request, inputs: JudgeInputs): TimedReply {
  const { reply, validUntilMs } =
    question.kind === "check"
      ? answerCheck(question.target, withServerState(question.check, request.serverState), inputs)
      : answerStatus(question.target, inputs);
  return { reply, validUntilMs: Math.min(validUntilMs, inputs.nowMs + keptMsMax) };
}

/** Answers a request from memory. A pure function of its arguments: it does not wait, send or write anything. */
export function answer(question: MemoryRequest, request: Request, inputs: JudgeInputs): Reply {
  switch (question.kind) {
    case "check":
    case "status":
      return answerCluster(question, request, inputs).reply;
    case "document":
      return answerDocument(question.target, question.name, inputs);
    case "bad_request":
      return badRequest(question.problem);
    case "not_allowed":
      return methodNotAllowed(request.method, question.allow);
    case "operator_off":
      return errorReply(403, "operator_pages_off", {
        message: `Cannot answer /${question.path}: this listener has no operator pages. Request it from an admin listener (dialect: admin), or set operator_pages: true on this one`,
      });
    case "forbidden":
      return errorReply(403, "management_off", {
        message: `Cannot forward ${question.call}: management calls are off on this listener. Set the listener option management: on`,
      });
  }
}

function answerCheck(target: TargetNode, check: Check, inputs: JudgeInputs): TimedReply {
  const resolved = resolveTarget(target, inputs);
  if ("reply" in resolved) return { reply: resolved.reply, validUntilMs: Infinity };
  const { view, observation } = resolved;
  const { snapshot } = inputs;
  const { isBound } = target;
  if (target.node === null) {
    const { verdict, chosen } = judgePool(view, check);
    return verdictReply({ snapshot, view, observation: chosen, isBound }, verdict, check);
  }
  if (observation === null) return verdictReply({ snapshot, view, observation, isBound }, unfit("unknown"), check);
  return verdictReply({ snapshot, view, observation, isBound }, judgeMember(view, observation, check), check);
}

/**
 * Answers `/patroni` and `/ha`. For a whole cluster: the document of the primary, else of the node with the least lag.
 */
function answerStatus(target: TargetNode, inputs: JudgeInputs): TimedReply {
  const resolved = resolveTarget(target, inputs);
  if ("reply" in resolved) return { reply: resolved.reply, validUntilMs: Infinity };
  const { view } = resolved;
  const { snapshot } = inputs;
  const { isBound } = target;
  if (target.node !== null) return statusReply({ snapshot, view, observation: resolved.observation, isBound });
  const readable = judgePool(view, plainCheck("read-only"));
  const { chosen, verdict } = readable.chosen === null ? judgePool(view, plainCheck("health")) : readable;
  const { reply, validUntilMs } = statusReply({ snapshot, view, observation: chosen, isBound });
  return {
    reply,
    validUntilMs: Math.min(validUntilMs, readable.verdict.validUntilMs, verdict.validUntilMs),
  };
}

function answerDocument(target: TargetNode, name: DocumentName, inputs: JudgeInputs): Reply {
  const resolved = resolveTarget(target, inputs);
  if ("reply" in resolved) return resolved.reply;
  const served = resolved.view.cluster.documents[name];
  if (served === null) {
    const message = `Cannot serve /${name} of cluster ${target.cluster}: no node has answered it yet`;
    return errorReply(503, "unknown", { message, headers: ["X-Rolecall-Node", "-", "X-Rolecall-Reason", "unknown"] });
  }
  const age = Math.max(0, Math.round((inputs.nowMs - served.sentAtMs) / 1000));
  const headers = ["X-Rolecall-Node", printable(served.source), "Age", String(age)];
  if (served.status !== 200)
    return errorReply(served.status, "none", { message: `The cluster has no /${name}`, headers });
  const body = target.isBound ? served.body : (served.strict ?? served.body);
  return documentReply({ code: 200, phrase: "OK" }, body, headers);
}

/**
 * Answers `/livez` (the process runs) and `/readyz` (send it traffic). Both report rolecall only, never a database.
 * @param directory the listeners that the sender of the request can reach, if the listener names them
 */
export function answerSelf(path: "livez" | "readyz", unready: string | null, directory?: ListenerDirectory): Reply {
  if (path === "livez" || unready === null)
    return jsonReply({ code: 200, phrase: "OK" }, JSON.stringify({ status: "ok", ...directory }));
  return jsonReply({ code: 503, phrase: unready }, JSON.stringify({ status: unready, ...directory }));
}

type ResolvedTarget = Omit<JudgedNode, "snapshot" | "isBound"> | { readonly reply: Reply };

/** Finds the cluster and node of a request. While members may be missing here, any node name may turn out to exist. */
function resolveTarget(target: TargetNode, { snapshot, policy: healthPolicy, nowMs }: JudgeInputs): ResolvedTarget {
  const cluster = clusterNamed(snapshot, target.cluster);
  const policy = healthPolicy(target.cluster);
  if (cluster === undefined || policy === undefined) {
    return {
      reply: badRequest({
        subject: "cluster",
        value: target.cluster,
        allowed: oneOf(snapshot.index.keys(), "cluster"),
      }),
    };
  }
  const view: ClusterView = viewAt(cluster, policy, nowMs);
  if (target.node === null) return { view, observation: null };
  const observation = find(cluster, target.node, target.isAnyCase);
  if (observation === undefined && !mayLackMembers(cluster)) {
    return {
      reply: badRequest({
        subject: "node",
        value: target.node,
        allowed: oneOf(cluster.index.keys(), "node"),
      }),
    };
  }
  return { view, observation: observation ?? null };
}

function find(cluster: ClusterState, name: string, isAnyCase: boolean): Observation | undefined {
  const exact = nodeNamed(cluster, name);
  if (exact !== undefined || !isAnyCase) return exact;
  return cluster.nodes.find(({ node }) => node.name.toLowerCase() === name.toLowerCase());
}
