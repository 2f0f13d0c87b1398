import { end, stay, step, withPhase, type Happened, type StateOf, type SwitchoverTransition } from "./transition.ts";
import type { SwitchoverEvent } from "./event.ts";
import type { SwitchoverPlan } from "./plan.ts";
import type { Outcome } from "./state.ts";

/** Waits until nothing is paused any more, and until the intent says so. */
export function advanceResuming(
  plan: SwitchoverPlan,
  state: StateOf<"resuming">,
  happened: Happened,
): SwitchoverTransition {
  const { event, nowMs } = happened;
  if (event.kind === "resumed" && state.targets[event.target] === "resuming")
    return stay(
      { ...state, targets: withPhase(state.targets, event.target, "resumed") },
      { kind: "close", target: event.target },
    );
  if (event.kind === "closed" && state.targets[event.target] === "resumed")
    return afterClosing(plan, { ...state, targets: withPhase(state.targets, event.target, "closed") }, nowMs);
  const { outcome, effects } = outcomeAfter(plan, state.outcome, event);
  return stay({ ...state, outcome }, ...effects);
}

/** Clients go on, and nothing is paused. The routes are still led to a primary that appears. */
export function advanceFollowing(
  plan: SwitchoverPlan,
  state: StateOf<"following">,
  { event }: Happened,
): SwitchoverTransition {
  if (event.kind === "stop") return end(state.outcome);
  const { outcome, effects } = outcomeAfter(plan, state.outcome, event);
  return awaitsPrimary(outcome) ? stay({ ...state, outcome }, ...effects) : end(outcome, ...effects);
}

function afterClosing({ limits }: SwitchoverPlan, state: StateOf<"resuming">, nowMs: number): SwitchoverTransition {
  const { outcome, targets } = state;
  if (targets.some((phase) => phase !== "closed")) return stay(state);
  if (!awaitsPrimary(outcome)) return end(outcome, step("resumed"));
  return stay({ kind: "following", untilMs: nowMs + limits.followMs, outcome }, step("resumed"));
}

/** After these outcomes a primary may still appear, or change. */
function awaitsPrimary({ kind }: Outcome): boolean {
  return kind === "unknown" || kind === "no_primary";
}

/** What was unknown may become known after clients were resumed. */
function outcomeAfter(
  { leader }: SwitchoverPlan,
  outcome: Outcome,
  event: SwitchoverEvent,
): { readonly outcome: Outcome; readonly effects: SwitchoverTransition["effects"] } {
  if (!awaitsPrimary(outcome)) return { outcome, effects: [] };
  if (event.kind === "primary" && event.node !== null && event.node !== leader)
    return {
      outcome: { kind: "switched", node: event.node },
      effects: [step("writable", event.node), { kind: "route", node: event.node }],
    };
  if (event.kind !== "answered" || event.result.kind !== "refused") return { outcome, effects: [] };
  const { status, reason } = event.result;
  return { outcome: { kind: "rejected", status, reason }, effects: [] };
}
