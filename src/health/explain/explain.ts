import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { drainRules } from "./explain-drain.ts";
import { evidenceRules, identityRules } from "./explain-evidence.ts";
import { exporterRules } from "./explain-exporter.ts";
import { attachmentRules, lagRules } from "./explain-replica.ts";
import { kindRules, lockRules, suitabilityRules } from "./explain-role.ts";
import { judgeMember } from "../judge/pool.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import type { Verdict } from "../verdict.ts";

/** One rule as it was applied to one node. */
export interface RuleLine {
  /** What is looked at, in a word or two. */
  readonly rule: string;
  /** `pass` and `refuse` as the rule says by itself; `skip` where it does not apply to this check or its guard is off. */
  readonly outcome: "pass" | "refuse" | "skip";
  /** What was seen. */
  readonly value: string;
  /** What it is measured by, where there is a measure. */
  readonly limit: string | null;
  /** How old the evidence is, in ms; `null` where there is none. */
  readonly ageMs: number | null;
  /** Where the evidence comes from, as `GET /leader of pg1`. */
  readonly source: string;
  /** The reason that a refusal by this rule gives. */
  readonly reason: string | null;
}

/** Why a node gets the answer it gets. */
export interface Explanation {
  readonly verdict: Verdict;
  /** Every rule in the order of judging. */
  readonly rules: readonly RuleLine[];
  /** The place in `rules` of the one that decided; `null` for a yes. */
  readonly decisive: number | null;
}

/**
 * Explains the verdict on one node: the rules of design.md in order, each with the value seen, the limit, the age and the source
 * of its evidence, and its outcome. The verdict is that of judging itself; the rules only tell how it comes about.
 */
export function explain(view: ClusterView, observation: Observation, check: Check): Explanation {
  const verdict = judgeMember(view, observation, check);
  const subject = { view, observation, check };
  const rules = [
    ...evidenceRules(subject),
    ...identityRules(subject),
    ...exporterRules(subject),
    ...lockRules(subject),
    ...kindRules(subject),
    ...attachmentRules(subject),
    ...lagRules(subject),
    ...suitabilityRules(subject),
    ...drainRules(subject),
  ];
  const decisive = verdict.fit
    ? -1
    : rules.findIndex(({ outcome, reason }) => outcome === "refuse" && reason === verdict.reason);
  return { verdict, rules, decisive: decisive < 0 ? null : decisive };
}
