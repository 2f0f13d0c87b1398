import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import type { Reason } from "../reason.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";

/** One rule as it was applied to one node. */
export interface RuleLine {
  /** A short name of the rule. */
  readonly rule: string;
  /** `pass` or `refuse` by this rule alone; `skip` if it does not apply to this check or its guard is off. */
  readonly outcome: "pass" | "refuse" | "skip";
  /** The observed value. */
  readonly value: string;
  /** The limit, if the rule has one. */
  readonly limit: string | null;
  /** The age of the evidence, in ms; `null` without evidence. */
  readonly ageMs: number | null;
  /** The source of the evidence, as `GET /leader of pg1`. */
  readonly source: string;
  /** The reason of a refusal by this rule. */
  readonly reason: string | null;
}

/** The verdict to explain: a node, a check, and the view they are judged in. */
export interface ExplainContext {
  readonly view: ClusterView;
  readonly observation: Observation;
  readonly check: Check;
}

/** The result of one rule. */
export interface RuleFinding {
  readonly rule: string;
  readonly value: string;
  readonly limit?: string;
  /** The reason of a refusal; absent if the rule passes. */
  readonly refusal?: Reason | null;
  readonly source?: string;
}

/** Makes the line of a rule that applies. */
export function ruleLine({ view, observation }: ExplainContext, finding: RuleFinding): RuleLine {
  const refusal = finding.refusal ?? null;
  return {
    rule: finding.rule,
    outcome: refusal === null ? "pass" : "refuse",
    value: finding.value,
    limit: finding.limit ?? null,
    ageMs: observation.report === null ? null : Math.round(view.nowMs - observation.sentAtMs),
    source: finding.source ?? reportOf(observation),
    reason: refusal,
  };
}

/** The source of a node's report. */
function reportOf({ node }: Observation): string {
  return node.api === null ? `GET /up of the exporter of ${node.name}` : `GET /leader of ${node.name}`;
}

/** Makes the line of a rule that does not apply. @param why why it does not apply */
export function skippedRule(rule: string, why: string): RuleLine {
  return { rule, outcome: "skip", value: why, limit: null, ageMs: null, source: "", reason: null };
}

/** Formats a duration for readers, as `1.4 s`. @param ms in ms */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
