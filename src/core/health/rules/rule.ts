import type { Report } from "../../cluster/documents/report.ts";
import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import type { Reason } from "../reason.ts";
import { fit, validUntil, type Verdict } from "../verdict.ts";

/** A check of a node. */
export interface NodeCheck {
  readonly view: ClusterView;
  readonly observation: Observation;
  readonly check: Check;
}

/** A check of a node that has answered. */
export interface RuleContext extends NodeCheck {
  /** The node's last report. */
  readonly report: Report;
}

/** One rule of judgement: what it decides, and what it shows to people. */
export interface Rule<Context extends NodeCheck = RuleContext> {
  /** Decides. Pure. A yes allocates nothing. */
  readonly judge: (context: Context) => Verdict;
  /**
   * Describes the evidence; no line where there is nothing to say. Only explanations call it.
   * @param refusal the reason of a no by this rule; `null` for a yes, and where another alternative decides
   */
  readonly show: (context: Context, refusal: Reason | null) => readonly Shown[];
}

/** What a rule shows. */
export interface Shown {
  /** A short name. Usually that of the rule. */
  readonly rule: string;
  /** The observed value; of a rule that does not apply, why. */
  readonly value: string;
  readonly limit?: string | null;
  /** Where the evidence comes from. The node's report if left out. */
  readonly source?: string;
  /** The age of the evidence, in ms. That of the node's report if left out. */
  readonly ageMs?: number | null;
  /** Whether the rule does not apply to this check, or its guard is off. */
  readonly isSkipped?: boolean;
  /** The reason of a no by this line, where a rule shows several. The rule's own if left out. */
  readonly refusal?: Reason | null;
}

/** Judges by several rules: fit if all say yes, otherwise the first no. */
export function judgeAll<Context extends NodeCheck>(rules: readonly Rule<Context>[], context: Context): Verdict {
  let untilMs = Infinity;
  for (const rule of rules) {
    const verdict = rule.judge(context);
    if (!verdict.fit) return validUntil(verdict, untilMs);
    untilMs = Math.min(untilMs, verdict.validUntilMs);
  }
  return validUntil(fit, untilMs);
}

/** A rule that only shows evidence, and refuses nobody. */
export function shownOnly<Context extends NodeCheck>(show: Rule<Context>["show"]): Rule<Context> {
  return { judge: () => fit, show };
}

/** What is shown of a rule that does not apply. @param why why it does not */
export function skipped(rule: string, why: string): Shown {
  return { rule, value: why, source: "", ageMs: null, isSkipped: true };
}

/** Formats a duration for readers, as `1.4 s`. @param ms in ms */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
