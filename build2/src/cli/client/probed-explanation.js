import { viewAt } from "../../health/evidence/cluster-view.js";
import { explain } from "../../health/explain/explain.js";
import { CommandError } from "../framework/command-error.js";
import { knowledgeOf, notKnown, watchedFor } from "./attachment.js";
import { explainedNode } from "./explanations.js";
/** The name of the rule on a replica's stream (rule 5). */
const streamRule = "stream";
/**
 * Explains the verdict on a node that this process has probed itself. A node that looks fit, but was not watched for
 * long enough to know that it is attached, is neither fit nor unfit: `fit` is `null`.
 */
export function explainProbedNode(probed, cluster, { observation, check }) {
    const [state, policy] = [probed.cluster(cluster), probed.policy(cluster)];
    if (state === undefined || policy === undefined)
        throw new CommandError("RC001", `There is no cluster ${cluster}`);
    const explained = explainedNode(observation.node.name, explain(viewAt(state, policy, probed.now()), observation, check));
    if (explained.fit !== true)
        return { ...explained, attachment: null };
    const knowledge = knowledgeOf(probed, cluster, { observation, check });
    if (knowledge !== notKnown)
        return { ...explained, attachment: knowledge === "not needed" ? null : knowledge };
    const seen = watchedFor(probed);
    const rules = explained.rules.map((rule) => rule.rule === streamRule ? { ...rule, outcome: notKnown, value: unknownValue(rule.value, seen) } : rule);
    return { ...explained, fit: null, detail: seen, attachment: notKnown, decisive: streamRule, rules };
}
/** What the rule observed so far. A pass so far is no observation: the node has not shown that it advances. */
function unknownValue(value, seen) {
    return value.startsWith("advances") || value.startsWith("listed by its sender, and advances")
        ? `not known: ${seen}`
        : `not known: ${seen}; ${value}`;
}
//# sourceMappingURL=probed-explanation.js.map