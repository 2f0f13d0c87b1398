import type { CompanionEvidence } from "../../cluster/companion.ts";
import { companionState } from "../evidence/node/companions.ts";
import { fit, unfit, validUntil, type Verdict } from "../verdict.ts";
import { seconds, type NodeCheck, type Rule, type Shown } from "./rule.ts";

/**
 * The companions that the check asks for answer (rule 15). Whether open sessions may live does not depend on them. One
 * of which nothing is known yet makes the node `unknown`, so that balancers change nothing for it.
 */
export const companions: Rule<NodeCheck> = {
  judge({ view, observation, check }) {
    if (check.companions.length === 0 || check.isForSessions) return fit;
    let untilMs = Infinity;
    for (const name of check.companions) {
      const verdict = judgeOne(name, observation.companions.get(name), view);
      if (!verdict.fit) return validUntil(verdict, untilMs);
      untilMs = Math.min(untilMs, verdict.validUntilMs);
    }
    return validUntil(fit, untilMs);
  },
  show: ({ view, observation, check }) =>
    check.companions.map((name): Shown => {
      const evidence = observation.companions.get(name);
      const { policy, nowMs } = view;
      const sentAtMs = evidence?.sentAtMs ?? -Infinity;
      const answered = sentAtMs === -Infinity ? "never answered" : `answered ${seconds(nowMs - sentAtMs)} ago`;
      const failure = evidence?.failure ?? null;
      const failed = failure === null ? "" : `, ${evidence?.failuresInRow} failed in a row: ${failure.detail}`;
      const verdict = judgeOne(name, evidence, view);
      return {
        rule: `companion ${name}`,
        value: `${answered}${failed}`,
        limit: `within ${seconds(policy.maxAgeMs)}, down after ${policy.fall} in a row, back after ${policy.rise}`,
        source: `companion ${name} of ${observation.node.name}`,
        ageMs: sentAtMs === -Infinity ? null : Math.round(nowMs - sentAtMs),
        isSkipped: check.isForSessions,
        refusal: verdict.fit ? null : verdict.reason,
      };
    }),
};

function judgeOne(
  name: string,
  evidence: CompanionEvidence | undefined,
  { policy, nowMs }: NodeCheck["view"],
): Verdict {
  const state = companionState(evidence, policy, nowMs);
  if (state === "up") return validUntil(fit, (evidence?.sentAtMs ?? 0) + policy.maxAgeMs);
  if (state === "unknown") return unfit("unknown", name);
  const why = state === "down" ? (evidence?.failure?.kind ?? state) : state;
  return unfit("companion", `${name} ${why}`);
}
