import { ofWholeCluster } from "../../health/check.ts";
import { explain } from "../../health/rules/explain.ts";
import { explanationJson, explanationText, remarksOn } from "../../health/documents/explanation-document.ts";
import { foreignScopeText } from "../../health/evidence/node/foreign-scope.ts";
import { judgePool } from "../../health/rules/pool.ts";
import { isLeftAsItWas } from "../../pools/silence.ts";
import { badRequest, type Reply } from "../message/reply.ts";
import { statusOf } from "../../health/verdict-status.ts";
import { renderSliced, type RenderingContext } from "../pages/rendering.ts";
import type { DiagnosticsRequest, DiagnosticsSources } from "./diagnostics-sources.ts";
import { explainSubject, type ExplainSubject } from "./explain-reply.ts";

/**
 * Answers `/explain?cluster=demo&check=/primary`, which names no node: the verdict on the whole cluster, and for each
 * node the verdict with every rule. As JSON or, with `format=text`, as text. Rendered node by node.
 */
export async function explainClusterReply(
  request: DiagnosticsRequest,
  sources: DiagnosticsSources,
  rendering: RenderingContext,
): Promise<Reply | null> {
  const explained = explainSubject(request, sources);
  if ("subject" in explained) return badRequest(explained);
  const parsed = ofWholeCluster({ ok: true, check: explained.check });
  if (!parsed.ok) return badRequest(parsed.problem);
  const [pieces, type] =
    request.query.get("format") === "text"
      ? [textPieces(explained), "text/plain; charset=utf-8"]
      : [jsonPieces(explained), "application/json"];
  return renderSliced(pieces, rendering, ["Content-Type", type]);
}

function* jsonPieces({ cluster, view, check, text, snapshot, at }: ExplainSubject): Generator<string> {
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
    ...causeOf(cluster),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"nodes":[`;
  let comma = "";
  for (const observation of cluster.nodes) {
    const explained = explain(view, observation, check);
    const known = !isLeftAsItWas(view, check, { observation, verdict: explained.verdict });
    const explanation = explanationJson(explained, check, remarksOn(view, observation));
    yield `${comma}${JSON.stringify({ node: observation.node.name, ...explanation, known })}`;
    comma = ",";
  }
  yield "]}";
}

/** Why the cluster has no node, where its addresses tell. */
function causeOf(cluster: ExplainSubject["cluster"]): { readonly cause?: string } {
  const cause = foreignScopeText(cluster);
  return cause === null ? {} : { cause };
}

function* textPieces({ cluster, view, check, text, snapshot, at }: ExplainSubject): Generator<string> {
  const { verdict, chosen } = judgePool(view, check);
  const outcome = verdict.fit ? `IN by ${chosen?.node.name ?? "no node"}` : `OUT: ${verdict.reason}`;
  const { cause } = causeOf(cluster);
  yield `cluster ${cluster.name} is ${outcome} for ${text}\n${cause === undefined ? "" : `${cause}\n`}`;
  for (const observation of cluster.nodes) {
    const explanation = explain(view, observation, check);
    const { sequence, instance } = snapshot;
    const named = { node: observation.node.name, cluster: cluster.name, check: text, at, snapshot: sequence, instance };
    yield `\n${explanationText({ ...named, ...explanation, remarks: remarksOn(view, observation) })}`;
  }
}
