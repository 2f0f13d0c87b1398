import type { Drain } from "../../cluster/drain.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import type { Reason } from "../reason.ts";
import { activeDrainOf } from "../evidence/active-drain.ts";
import { withDrain } from "../judge/drain.ts";
import { seconds, type ExplainContext, type RuleLine } from "./rule-line.ts";
import { fit } from "../verdict.ts";

/** Whether an operator distrusts the node. Empty for a node that is not distrusted. */
export function distrustRules({ view, observation, check }: ExplainContext): readonly RuleLine[] {
  const drain = activeDrainOf(view.cluster, observation.node.name, view.nowMs);
  if (drain?.extent !== "distrust") return [];
  const isExempt = check.route === "liveness";
  return [drainLine(view, drain, { rule: "distrust", reason: isExempt ? null : "distrusted", limit: "all routes" })];
}

/** Whether an operator took the node out of service. Empty for a node without a drain. */
export function drainRules({ view, observation, check }: ExplainContext): readonly RuleLine[] {
  const drain = activeDrainOf(view.cluster, observation.node.name, view.nowMs);
  if (drain === null || drain.extent === "distrust") return [];
  const verdict = withDrain(fit, view, { observation, check });
  const limit = drain.extent === "all" ? "all routes" : "replica routes";
  return [drainLine(view, drain, { rule: "drain", reason: verdict.fit ? null : verdict.reason, limit })];
}

const exempt = ", which does not apply to this check";

/** @param line with the reason of the refusal; `null` if it does not apply to the check */
function drainLine(
  { nowMs }: ClusterView,
  drain: Drain,
  line: { readonly rule: string; readonly reason: Reason | null; readonly limit: string },
): RuleLine {
  const isSkipped = line.reason === null;
  return {
    ...line,
    outcome: isSkipped ? "skip" : "refuse",
    value: `${drain.reason}, for ${seconds(drain.untilMs - nowMs)} more${isSkipped ? exempt : ""}`,
    ageMs: null,
    source: drain.by === null ? "an operator" : `operator ${drain.by}`,
  };
}
