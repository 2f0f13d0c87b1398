import { activeDrainOf } from "../evidence/active-drain.ts";
import { withDrain } from "../judge/drain.ts";
import { seconds, type ExplainContext, type RuleLine } from "./rule-line.ts";
import { fit } from "../verdict.ts";

/** Whether an operator took the node out of service. Empty for a node without a drain. */
export function drainRules({ view, observation, check }: ExplainContext): readonly RuleLine[] {
  const drain = activeDrainOf(view.cluster, observation.node.name, view.nowMs);
  if (drain === null) return [];
  const verdict = withDrain(fit, view, { observation, check });
  return [
    {
      rule: "drain",
      outcome: verdict.fit ? "skip" : "refuse",
      value: `${drain.reason}, for ${seconds(drain.untilMs - view.nowMs)} more${verdict.fit ? ", which does not apply to this check" : ""}`,
      limit: drain.isAll ? "all routes" : "replica routes",
      ageMs: null,
      source: drain.by === null ? "an operator" : `operator ${drain.by}`,
      reason: verdict.fit ? null : verdict.reason,
    },
  ];
}
