import { drainRules } from "./explain-drain.js";
import { evidenceRules, identityRules } from "./explain-evidence.js";
import { exporterRules } from "./explain-exporter.js";
import { attachmentRules, lagRules } from "./explain-replica.js";
import { kindRules, lockRules, suitabilityRules } from "./explain-role.js";
import { judgeMember } from "../judge/pool.js";
/**
 * Explains the verdict on one node: every rule of judgement in order, each with the observed value, the limit, the age
 * and the source of its evidence, and its outcome. The verdict itself comes from judgement; the rules only explain it.
 */
export function explain(view, observation, check) {
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
//# sourceMappingURL=explain.js.map