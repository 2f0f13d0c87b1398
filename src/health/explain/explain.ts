import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { distrustRules, drainRules } from "./explain-drain.ts";
import { evidenceRules, identityRules } from "./explain-evidence.ts";
import { exporterRules } from "./explain-exporter.ts";
import { attachmentRules, lagRules } from "./explain-replica.ts";
import { roleRules, lockRules, suitabilityRules } from "./explain-role.ts";
import type { RuleLine } from "./rule-line.ts";
import { judgeMember } from "../judge/pool.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import type { Verdict } from "../verdict.ts";

/** The verdict on a node, and the rules that lead to it. */
export interface Explanation {
  readonly verdict: Verdict;
  /** Every rule, in the order of judgement. */
  readonly rules: readonly RuleLine[];
  /** The index in `rules` of the rule that decided; `null` for a yes. */
  readonly decisive: number | null;
}

/**
 * Explains the verdict on one node: every rule of judgement in order, each with the observed value, the limit, the age
 * and the source of its evidence, and its outcome. The verdict itself comes from judgement; the rules only explain it.
 */
export function explain(view: ClusterView, observation: Observation, check: Check): Explanation {
  const verdict = judgeMember(view, observation, check);
  const subject = { view, observation, check };
  const rules = [
    ...distrustRules(subject),
    ...evidenceRules(subject),
    ...identityRules(subject),
    ...exporterRules(subject),
    ...lockRules(subject),
    ...roleRules(subject),
    ...attachmentRules(subject),
    ...lagRules(subject),
    ...suitabilityRules(subject),
    ...drainRules(subject),
  ];
  const decisive = verdict.fit ? -1 : rules.findIndex(({ reason }) => reason === verdict.reason);
  return { verdict, rules, decisive: decisive < 0 ? null : decisive };
}
