import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import type { RuleLine } from "./explain.ts";
import type { Reason } from "../reason.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";

/** What is explained. */
export interface ExplainContext {
  readonly view: ClusterView;
  readonly observation: Observation;
  readonly check: Check;
}

/** What a rule found, before it is written down. */
export interface RuleFinding {
  readonly rule: string;
  readonly value: string;
  readonly limit?: string;
  /** The reason of a refusal; absent where the rule passes. */
  readonly refusal?: Reason | null;
  /** The node whose report is the evidence; the node itself where left out. */
  readonly of?: Observation | null;
  readonly source?: string;
}

/** Writes down a rule that applied. */
export function ruleLine({ view, observation }: ExplainContext, finding: RuleFinding): RuleLine {
  const of = finding.of ?? observation;
  const refusal = finding.refusal ?? null;
  return {
    rule: finding.rule,
    outcome: refusal === null ? "pass" : "refuse",
    value: finding.value,
    limit: finding.limit ?? null,
    ageMs: of.report === null ? null : Math.round(view.nowMs - of.sentAtMs),
    source: finding.source ?? reportOf(of),
    reason: refusal,
  };
}

/** What a node's report was read from. */
function reportOf({ node }: Observation): string {
  return node.api === null ? `GET /up of the exporter of ${node.name}` : `GET /leader of ${node.name}`;
}

/** Writes down a rule that did not apply, and why not. */
export function skippedRule(rule: string, why: string): RuleLine {
  return { rule, outcome: "skip", value: why, limit: null, ageMs: null, source: "", reason: null };
}

/** `1.4 s`, as people read it. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
