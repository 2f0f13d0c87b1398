import { oneOf } from "../../cluster/values/one-of.ts";
import { clusterNamed, nodeNamed } from "../../cluster/lookup.ts";
import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import { ofKnownCompanions, parseCheck, type Check, type ParseError } from "../../health/check.ts";
import { explain } from "../../health/rules/explain.ts";
import { explanationJson, explanationText, remarksOn } from "../../health/documents/explanation-document.ts";
import { routeOf, routePaths } from "../../health/route.ts";
import { viewAt, type ClusterView } from "../../health/evidence/leadership/cluster-view.ts";
import type { DiagnosticsRequest, DiagnosticsSources } from "./diagnostics-sources.ts";
import { badRequest, jsonReply, printable, type Reply } from "../message/reply.ts";
import { parseRequestTarget } from "../message/request-target.ts";

/** What a request for an explanation is about, at one instant. */
export interface ExplainSubject {
  /** The check as the request names it. */
  readonly text: string;
  readonly check: Check;
  readonly snapshot: Snapshot;
  readonly cluster: ClusterState;
  readonly view: ClusterView;
  /** The present instant, RFC 3339. */
  readonly at: string;
}

/** @returns the check and the cluster of a request, or the parameter that is invalid */
export function explainSubject(
  { target, query }: DiagnosticsRequest,
  sources: DiagnosticsSources,
): ExplainSubject | ParseError {
  const text = query.get("check") ?? "/replica";
  const check = parseCheckTarget(text);
  if ("subject" in check) return check;
  const snapshot = sources.snapshot();
  const cluster = clusterNamed(snapshot, target.cluster);
  const policy = sources.policy(target.cluster);
  if (cluster === undefined || policy === undefined)
    return { subject: "cluster", value: target.cluster, allowed: "a cluster of the configuration" };
  const known = ofKnownCompanions({ ok: true, check }, policy.companions?.map(({ name }) => name) ?? []);
  if (!known.ok) return known.problem;
  const view = viewAt(cluster, policy, sources.now());
  return { text, check, snapshot, cluster, view, at: new Date(sources.wall()).toISOString() };
}

/**
 * Answers `/explain?node=pg2&check=/replica?lag=1MB` with every rule in order: as JSON or, with `format=text`, as text.
 */
export function explainReply({ target, query }: DiagnosticsRequest, sources: DiagnosticsSources): Reply {
  const subject = explainSubject({ target, query }, sources);
  if ("subject" in subject) return badRequest(subject);
  const { text: checkText, check, snapshot, cluster, view, at } = subject;
  const nodeNames = (): string => oneOf(cluster.index.keys(), "node");
  if (target.node === null)
    return badRequest({ subject: "node", value: "none named", allowed: `node=, ${nodeNames()}` });
  const observation = nodeNamed(cluster, target.node);
  if (observation === undefined) return badRequest({ subject: "node", value: target.node, allowed: nodeNames() });
  const head = {
    node: target.node,
    cluster: target.cluster,
    check: checkText,
    at,
    snapshot: snapshot.sequence,
    instance: snapshot.instance,
  };
  const explanation = explain(view, observation, check);
  const remarks = remarksOn(view, observation);
  const headers = ["X-Rolecall-Node", printable(target.node)];
  if (query.get("format") !== "text")
    return jsonReply(
      { code: 200, phrase: "OK" },
      JSON.stringify({ ...head, ...explanationJson(explanation, check, remarks) }),
      headers,
    );
  return {
    status: 200,
    phrase: "OK",
    headers: ["Cache-Control", "no-store", "Content-Type", "text/plain; charset=utf-8", ...headers],
    body: Buffer.from(explanationText({ ...head, ...explanation, remarks })),
  };
}

/** Parses the check of `check=`, such as `/replica?lag=1MB`. */
export function parseCheckTarget(text: string): Check | ParseError {
  const target = parseRequestTarget(text);
  const allowed = `a check such as /replica?lag=1MB: one of ${routePaths().join(", ")}`;
  if ("problem" in target) return { subject: "parameter check", value: text, allowed };
  const route = routeOf(target.path);
  if (route === undefined) return { subject: "parameter check", value: text, allowed };
  const parsed = parseCheck(route, target.query, {
    ignoreParams: [],
    ignoresUnknown: false,
    defaults: "",
    lagTimeMsMin: 0,
  });
  return parsed.ok ? parsed.check : parsed.problem;
}
