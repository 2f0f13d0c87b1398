import { disagreement } from "../evidence/exporter-disagreement.ts";
import { ruleLine, seconds, skippedRule, type ExplainContext, type RuleLine } from "./rule-line.ts";
import { judgeExporterNode } from "../judge/judge-exporter.ts";

/**
 * Shows what the exporter adds: a second witness that decides nothing or, for a node without an API, the evidence of
 * every yes.
 */
export function exporterRules(subject: ExplainContext): readonly RuleLine[] {
  const { observation, check } = subject;
  if (observation.node.exporter === null || check.route === "liveness") return [];
  return observation.node.api === null ? onlyWitness(subject) : [secondWitness(subject)];
}

function secondWitness(subject: ExplainContext): RuleLine {
  const { view, observation } = subject;
  const { exporter } = observation;
  if (exporter === null || exporter.up === null)
    return skippedRule("exporter", `no answer: ${exporter?.upFailure?.detail ?? "never probed"}`);
  const differing = disagreement(view, observation);
  const status = `${exporter.up.role}, ${seconds(view.nowMs - exporter.up.sentAtMs)} ago`;
  const value =
    differing === null ? status : `DISAGREES: the exporter reports ${status}, the API reports ${differing.node}`;
  return {
    ...skippedRule("exporter", value),
    limit: "for information only",
    source: `GET /up of the exporter of ${observation.node.name}`,
  };
}

function onlyWitness(subject: ExplainContext): readonly RuleLine[] {
  const { view, observation, check } = subject;
  const { exporter, report } = observation;
  if (exporter === null || report === null) return [];
  const verdict = judgeExporterNode(view, { observation, report }, check);
  const reason = verdict.fit ? null : verdict.reason;
  const isProof = reason === "stale" || reason === "unknown" || reason === "down";
  const age =
    exporter.provenAtMs === -Infinity ? "no page proves it" : `${seconds(view.nowMs - exporter.provenAtMs)} ago`;
  const proof = ruleLine(subject, {
    rule: "database activity",
    value: `${age}; status ${exporter.up?.role ?? "none"}, role ${report.role}`,
    limit: `a page whose own database time advanced, within ${seconds(view.policy.pageMaxAgeMs)}`,
    refusal: isProof ? reason : null,
    source: `GET /metrics of the exporter of ${observation.node.name}`,
  });
  if (reason === "not_running" || (reason === "wrong_role" && report.role === "pooler"))
    return [
      proof,
      ruleLine(subject, {
        rule: "database",
        value: `state ${report.state}, role ${report.role}`,
        limit: "a running database, no pooler",
        refusal: reason,
      }),
    ];
  if (reason !== "no_manager") return [proof];
  const refusal = reason;
  return [
    proof,
    ruleLine(subject, { rule: "cluster manager", value: "none: the node is known only through its exporter", refusal }),
  ];
}
