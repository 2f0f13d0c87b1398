import { clusterNamed } from "../../cluster/lookup.ts";
import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import type { Check } from "../../health/check.ts";
import { viewAt, type ClusterView } from "../../health/evidence/cluster-view.ts";
import { explain } from "../../health/explain/explain.ts";
import { judgePool } from "../../health/judge/pool.ts";
import { badRequest, type Reply } from "../message/reply.ts";
import { statusOf } from "../node-api/verdict-reply.ts";
import { renderSliced, type Rendering } from "../pages/rendering.ts";
import type { DiagnosticsRequest, DiagnosticsSources } from "./diagnostics-sources.ts";
import { explanationJson, explanationText, parseCheckTarget } from "./explain-reply.ts";

/**
 * Answers `/explain?cluster=demo&check=/primary`, which names no node: the verdict on the whole cluster, and for each
 * node the verdict with every rule. As JSON or, with `format=text`, as text. Rendered node by node.
 */
export async function explainClusterReply(
  { target, query }: DiagnosticsRequest,
  sources: DiagnosticsSources,
  rendering: Rendering,
): Promise<Reply | null> {
  const text = query.get("check") ?? "/replica";
  const check = parseCheckTarget(text);
  if ("subject" in check) return badRequest(check);
  const snapshot = sources.snapshot();
  const cluster = clusterNamed(snapshot, target.cluster);
  const policy = sources.policy(target.cluster);
  if (cluster === undefined || policy === undefined)
    return badRequest({ subject: "cluster", value: target.cluster, allowed: "a cluster of the configuration" });
  const explained: ExplainedCluster = {
    cluster,
    view: viewAt(cluster, policy, sources.now()),
    check,
    text,
    snapshot,
    at: new Date(sources.wall()).toISOString(),
  };
  const [pieces, type] =
    query.get("format") === "text"
      ? [textPieces(explained), "text/plain; charset=utf-8"]
      : [jsonPieces(explained), "application/json"];
  return renderSliced(pieces, rendering, ["Content-Type", type]);
}

interface ExplainedCluster {
  readonly cluster: ClusterState;
  readonly view: ClusterView;
  readonly check: Check;
  /** The check as it was requested. */
  readonly text: string;
  readonly snapshot: Snapshot;
  readonly at: string;
}

function* jsonPieces({ cluster, view, check, text, snapshot, at }: ExplainedCluster): Generator<string> {
  const { verdict, chosen } = judgePool(view, check);
  const head = {
    cluster: cluster.name,
    check: text,
    at,
    snapshot: snapshot.sequence,
    instance: snapshot.instance,
    fit: verdict.fit,
    reason: verdict.fit ? null : verdict.reason,
    detail: verdict.fit ? null : verdict.figure,
    status: verdict.fit ? 200 : statusOf(verdict, check),
    node: verdict.fit ? (chosen?.node.name ?? null) : null,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"nodes":[`;
  let comma = "";
  for (const observation of cluster.nodes) {
    const explanation = explanationJson(explain(view, observation, check), check);
    yield `${comma}${JSON.stringify({ node: observation.node.name, ...explanation })}`;
    comma = ",";
  }
  yield "]}";
}

function* textPieces({ cluster, view, check, text, snapshot, at }: ExplainedCluster): Generator<string> {
  const { verdict, chosen } = judgePool(view, check);
  const outcome = verdict.fit ? `IN by ${chosen?.node.name ?? "no node"}` : `OUT: ${verdict.reason}`;
  yield `cluster ${cluster.name} is ${outcome} for ${text}\n`;
  for (const observation of cluster.nodes) {
    const explanation = explain(view, observation, check);
    const { sequence, instance } = snapshot;
    const named = { node: observation.node.name, cluster: cluster.name, check: text, at, snapshot: sequence, instance };
    yield `\n${explanationText({ ...named, ...explanation })}`;
  }
}
