import type { Drain } from "../../cluster/drain.ts";
import { activeDrainOf } from "../evidence/node/active-drain.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { graceOn } from "../evidence/leadership/api-outage-grace.ts";
import type { Reason } from "../reason.ts";
import { fit, unfit, validUntil, type Verdict } from "../verdict.ts";
import { holdsLock, lockUntilMs } from "./lock.ts";
import { seconds, type NodeCheck, type Rule, type Shown } from "./rule.ts";
import { isForReplicas } from "./route-rules.ts";

/**
 * Refuses a node that an operator drained (reason `drained`, a soft no). A drain never makes another no milder: hard
 * reasons stay. It replaces a lag that is too great, or `keep=` would bring the node back in. Only routes that a replica
 * serves are drained, unless the drain says `all`; and then neither the holder of the lock nor a primary that the guard
 * `survive` keeps. Liveness is never drained, since its no kills processes.
 */
export function withDrain(verdict: Verdict, context: NodeCheck): Verdict {
  const { view, observation, check } = context;
  if (view.cluster.drains.size === 0 || check.isForSessions) return verdict;
  const drain = activeDrainOf(view.cluster, observation.node.name, view.nowMs);
  if (drain === null || (!verdict.fit && verdict.reason !== "lagging")) return verdict;
  const untilMs = Math.min(verdict.validUntilMs, drain.untilMs);
  if (drain.extent === "all") return validUntil(unfit("drained", drain.reason), untilMs);
  if (!isForReplicas(check.route)) return verdict;
  const grace = graceOn(view, observation, check.route);
  const isExempt = holdsLock(view, observation) || grace.isGranted;
  const decided = isExempt ? verdict : unfit("drained", drain.reason);
  return validUntil(decided, Math.min(untilMs, lockUntilMs(view, observation), grace.validUntilMs));
}

/** No operator distrusts the node. Liveness is exempt as from a drain. */
export const trusted: Rule<NodeCheck> = {
  judge({ view, observation, check }) {
    if (view.cluster.drains.size === 0 || check.route === "liveness") return fit;
    const drain = activeDrainOf(view.cluster, observation.node.name, view.nowMs);
    return drain?.extent === "distrust" ? validUntil(unfit("distrusted", drain.reason), drain.untilMs) : fit;
  },
  show({ view, observation }, refusal) {
    const drain = activeDrainOf(view.cluster, observation.node.name, view.nowMs);
    return drain?.extent === "distrust" ? [shown(drain, view, { rule: "distrust", refusal })] : [];
  },
};

/** What is shown of a drain; nothing of a node without one. */
export function shownDrain(context: NodeCheck): readonly Shown[] {
  const { view, observation } = context;
  const drain = activeDrainOf(view.cluster, observation.node.name, view.nowMs);
  if (drain === null || drain.extent === "distrust") return [];
  const verdict = withDrain(fit, context);
  return [shown(drain, view, { rule: "drain", refusal: verdict.fit ? null : verdict.reason })];
}

function shown(
  drain: Drain,
  { nowMs }: ClusterView,
  { rule, refusal }: { readonly rule: string; readonly refusal: Reason | null },
): Shown {
  const isSkipped = refusal === null;
  const elsewhere = isSkipped ? ", which does not apply to this check" : "";
  return {
    rule,
    value: `${drain.reason}, for ${seconds(drain.untilMs - nowMs)} more${elsewhere}`,
    limit: drain.extent === "replica" ? "replica routes" : "all routes",
    ageMs: null,
    source: drain.by === null ? "an operator" : `operator ${drain.by}`,
    isSkipped,
    refusal,
  };
}
