import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { nodeMarks } from "../evidence/node/plans.ts";
import { nodeRemark } from "../conditions/node-signs.ts";
import { statedOf, type Verdict } from "../verdict.ts";
import { statusOf } from "../verdict-status.ts";
import type { Explanation } from "../rules/explain.ts";
import type { RuleLine } from "../rules/explain.ts";

/** An explanation with the node and check that it explains. */
export interface ExplanationDocument extends Explanation {
  readonly node: string;
  readonly cluster: string;
  readonly check: string;
  readonly at: string;
  readonly snapshot: number;
  readonly instance: string;
  readonly remarks: readonly string[];
}

/** Returns an explanation as text: the verdict, then all rules, with the decisive one marked. */
export function explanationText(document: ExplanationDocument): string {
  const { verdict, rules, decisive, remarks } = document;
  const head = `${document.node} is ${verdict.fit ? "IN" : "OUT"} for ${document.check}${verdict.fit ? "" : `: ${verdict.reason}`}`;
  const cause = decisive === null ? undefined : rules[decisive];
  return [
    head,
    ...(cause === undefined
      ? degradedText(verdict)
      : [`  because ${cause.rule}: ${cause.value}${cause.limit === null ? "" : ` (must be: ${cause.limit})`}`]),
    ...remarks.map((remark) => `  note: ${remark}`),
    `  cluster ${document.cluster}, snapshot ${document.instance}.${document.snapshot}, ${document.at}`,
    "",
    ...rules.map((rule, at) => ruleText(rule, at === decisive)),
    "",
  ].join("\n");
}

function degradedText(verdict: Verdict): readonly string[] {
  if (!verdict.fit || !verdict.isDegraded) return [];
  if (verdict.passedOver !== null)
    return [`  (${verdict.passedOver.reason}, which says nothing against open sessions)`];
  return ["  (degraded: fit only to keep the pool from running empty, or by the exporter's report)"];
}

function ruleText(rule: RuleLine, isDecisive: boolean): string {
  const mark = rule.outcome === "pass" ? "ok " : rule.outcome === "skip" ? "-  " : isDecisive ? "NO " : "no ";
  const limit = rule.limit === null ? "" : `  [${rule.limit}]`;
  const age = rule.ageMs === null ? "" : `, ${(rule.ageMs / 1000).toFixed(1)} s old`;
  const source = rule.source === "" ? "" : `  <${rule.source}${age}>`;
  return `${mark} ${rule.rule.padEnd(18)} ${rule.value}${limit}${source}`;
}

/**
 * What an operator should know of a node although no rule uses it: that it only looks alive, that it alone does not reach
 * the DCS, and what its status document says for people. Whole clauses.
 */
export function remarksOn(view: ClusterView, observation: Observation): readonly string[] {
  const remark = nodeRemark(view, observation);
  const marks = nodeMarks(observation.report);
  const parameters = marks.pending_restart_reason.length === 0 ? "" : ` (${marks.pending_restart_reason.join(", ")})`;
  return [
    ...(remark === null ? [] : [`${observation.node.name} ${remark.text}`]),
    ...(marks.pending_restart ? [`it waits for a restart${parameters}`] : []),
    // What shows that a primary is wedged names its watchdog, too.
    ...(marks.watchdog_failed && remark?.condition !== "wedged" ? ["its watchdog has failed"] : []),
  ];
}

/**
 * Returns the fields of an explanation in JSON: the verdict with its figure, every rule, and remarks.
 * @param remarks see {@link remarksOn}
 */
export function explanationJson(
  { verdict, rules, decisive }: Explanation,
  check: Check,
  remarks: readonly string[],
): object {
  return {
    fit: verdict.fit,
    reason: statedOf(verdict)?.reason ?? null,
    detail: statedOf(verdict)?.figure ?? null,
    status: verdict.fit ? 200 : statusOf(verdict, check),
    decisive: decisive === null ? null : (rules[decisive]?.rule ?? null),
    remarks,
    rules: rules.map(({ ageMs, ...rule }) => ({ ...rule, age_ms: ageMs })),
  };
}
