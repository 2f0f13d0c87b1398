import type { ProbedClusters } from "../../core/command/client/probed-clusters.ts";
import type { Observation } from "../../core/cluster/observation.ts";
import type { Check } from "../../core/health/check.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import { attachmentWarning } from "../../core/health/evidence/attachment/attachment-warning.ts";
import { remarksOn } from "../../core/health/documents/explanation-document.ts";
import { explain } from "../../core/health/rules/explain.ts";
import type { ExplainedNode } from "./cluster-explanation.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { probedAttachment, notKnown, watchedFor } from "../../app/client/attachment.ts";
import { requireCompanions } from "../../core/command/client/check-argument.ts";
import { explainedNode } from "./explanations.ts";

/** The name of the rule on a replica's stream (rule 5). */
const streamRule = "stream";

/**
 * Explains the verdict on a node that this process has probed itself. A node that looks fit, but was not watched for
 * long enough to know that it is attached, is neither fit nor unfit: `fit` is `null`.
 */
export function explainProbedNode(
  probed: ProbedClusters,
  cluster: string,
  { observation, check }: { readonly observation: Observation; readonly check: Check },
): ExplainedNode {
  const [state, policy] = [probed.cluster(cluster), probed.policy(cluster)];
  if (state === undefined || policy === undefined) throw new CommandError("RC001", `There is no cluster ${cluster}`);
  requireCompanions(check, policy);
  const view = viewAt(state, policy, probed.now());
  const explanation = explain(view, observation, check);
  const explained = explainedNode(observation.node.name, explanation, remarksOn(view, observation));
  if (explained.fit !== true) return { ...explained, attachment: null };
  const knowledge = probedAttachment(probed, cluster, { observation, check });
  if (knowledge !== notKnown) return { ...explained, attachment: knowledge === "not needed" ? null : knowledge };
  const seen = watchedFor(probed);
  // Without a warning there is nothing to add: the node has not shown yet that it advances.
  const hasWarning = attachmentWarning(view, observation) !== null;
  const rules = explained.rules.map((rule) =>
    rule.rule === streamRule
      ? { ...rule, outcome: notKnown, value: `not known: ${seen}${hasWarning ? `; ${rule.value}` : ""}` }
      : rule,
  );
  return { ...explained, fit: null, detail: seen, attachment: notKnown, decisive: streamRule, rules };
}
