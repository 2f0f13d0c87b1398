import { disagreement } from "./disagreement.ts";
import type { RuleLine } from "./explain.ts";
import { line, seconds, skipped, type Subject } from "./explain-line.ts";
import { judgeExporterNode } from "./judge-exporter.ts";

/** What the exporter adds: a second witness that decides nothing, or, of a node without an API, what its every yes hangs on. */
export function exporterRules(subject: Subject): readonly RuleLine[] {
  const { observation, check } = subject;
  if (observation.node.exporter === null || check.route === "liveness") return [];
  return observation.node.api === null ? onlyWitness(subject) : [secondWitness(subject)];
}

function secondWitness(subject: Subject): RuleLine {
  const { sight, observation } = subject;
  const { exporter } = observation;
  if (exporter === null || exporter.up === null) return skipped("exporter", `no word: ${exporter?.upFailure?.detail ?? "never heard"}`);
  const differing = disagreement(sight, observation);
  const word = `${exporter.up.word}, ${seconds(sight.nowMs - exporter.up.sentAtMs)} ago`;
  const value = differing === null ? word : `DISAGREES: its exporter says ${word}, its API says ${differing.node}`;
  return { ...skipped("exporter", value), limit: "shown, decides nothing", source: `GET /up of the exporter of ${observation.node.name}` };
}

function onlyWitness(subject: Subject): readonly RuleLine[] {
  const { sight, observation, check } = subject;
  const { exporter, report } = observation;
  if (exporter === null || report === null) return [];
  const verdict = judgeExporterNode(sight, { observation, report }, check);
  const reason = verdict.fit ? null : verdict.reason;
  const isProof = reason === "stale" || reason === "unknown" || reason === "down";
  const age = exporter.provenAtMs === -Infinity ? "no page has shown it" : `${seconds(sight.nowMs - exporter.provenAtMs)} ago`;
  const proof = line(subject, {
    rule: "database at work",
    value: `${age}; word ${exporter.up?.word ?? "none"}, role ${report.role}`,
    limit: `a page whose own database time advanced, within ${seconds(sight.settings.pageMaxAgeMs)}`,
    refusal: isProof ? reason : null,
    source: `GET /metrics of the exporter of ${observation.node.name}`,
  });
  if (reason !== "no_manager") return [proof];
  const refusal = reason;
  return [proof, line(subject, { rule: "cluster manager", value: "none: known through its exporter alone", refusal })];
}
