import {
  effectsOfResuming,
  end,
  stay,
  step,
  type Happened,
  holdingOf,
  type StateOf,
  type SwitchoverTransition,
} from "./transition.ts";
import type { SwitchoverEffect } from "./effect.ts";
import type { SwitchoverEvent } from "./event.ts";
import type { SwitchoverPlan } from "./plan.ts";
import { isLed, type SettledOutcome, type TargetPhase, withheldOutcome } from "./state.ts";
import { afterTarget, changingRoutes, ledOutcome, runOutcome, withRoute } from "./targets.ts";

/** Waits until nothing is paused any more, until the intent says so, and until the routes lead to the new primary. */
export function advanceResuming(
  plan: SwitchoverPlan,
  state: StateOf<"resuming">,
  happened: Happened,
): SwitchoverTransition {
  const { event, nowMs } = happened;
  const routes = withRoute(state.routes, event);
  if (routes !== null) return settled(plan, { ...state, routes }, nowMs);
  const ofTarget = afterTarget(state.targets, state.problems, event);
  if (ofTarget !== null) {
    const { effects, ...changed } = ofTarget;
    return withEffects(settled(plan, { ...state, ...changed }, nowMs), effects);
  }
  const known = outcomeAfter(plan, state.outcome, event);
  if (known === null) return stay(state);
  const { outcome, node } = known;
  if (node === null) return settled(plan, { ...state, outcome }, nowMs);
  const led = { ...state, outcome, routes: changingRoutes(plan), untilMs: nowMs + plan.limits.settleMs };
  return withEffects(settled(plan, led, nowMs), [step("writable", node), { kind: "route", node }]);
}

/** Clients go on, and nothing is paused that could be resumed. The routes are still led to a primary that appears. */
export function advanceFollowing(
  plan: SwitchoverPlan,
  state: StateOf<"following">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "stop") return finish(plan, { ...state, routes: [] });
  const known = outcomeAfter(plan, state.outcome, event);
  if (known === null) return stay(state);
  const { outcome, node } = known;
  if (node === null) return finish(plan, { ...state, outcome, routes: [] });
  const times = {
    sinceMs: nowMs,
    untilMs: nowMs + plan.limits.settleMs,
    repeatAtMs: nowMs + plan.limits.resumeMs,
  };
  const led = { ...holdingOf(state), kind: "resuming", outcome, routes: changingRoutes(plan), ...times } as const;
  return withEffects(settled(plan, led, nowMs), [step("writable", node), { kind: "route", node }]);
}

/** The end of a run that follows no primary any more. */
export function finish(
  plan: SwitchoverPlan,
  state: Pick<StateOf<"resuming">, "targets" | "problems" | "routes" | "outcome">,
): SwitchoverTransition {
  return end(runOutcome(plan, state.outcome, state));
}

/** What time alone does while RESUME is repeated. */
export function resumingOnTime(plan: SwitchoverPlan, before: StateOf<"resuming">, nowMs: number): SwitchoverTransition {
  // A process that stood still has read nothing meanwhile: somebody else may have resumed everything.
  const hasStoodStill = nowMs - before.ranAtMs > plan.limits.silenceMs;
  const state = hasStoodStill
    ? { ...before, ranAtMs: nowMs, untilMs: Math.max(before.untilMs, nowMs + plan.limits.settleMs) }
    : before;
  const next = settled(plan, state, nowMs);
  if (next.state.kind !== "resuming" || nowMs < state.repeatAtMs) return next;
  return stay(
    { ...next.state, repeatAtMs: nowMs + plan.limits.resumeMs },
    ...next.effects,
    ...effectsOfResuming(state.targets),
  );
}

/** Whether a target leads to the new primary, if there is one. */
function isLedTo(
  { targets }: SwitchoverPlan,
  { outcome, routes }: Pick<StateOf<"resuming">, "outcome" | "routes">,
  target: number,
): boolean {
  const own = targets[target]?.routes ?? [];
  return !isLed(outcome) || own.every((route) => routes[route]?.phase !== "changing");
}

/** Whether the run is over: all is as it should be, its time is up, or only consoles are left that refuse connections. */
function settled(plan: SwitchoverPlan, before: StateOf<"resuming">, nowMs: number): SwitchoverTransition {
  const { state, effects } = withAbsent(plan, before, nowMs);
  const { targets, sinceMs, untilMs } = state;
  const isDone = (phase: TargetPhase, target: number): boolean =>
    (phase === "closed" && isLedTo(plan, state, target)) || phase === "left";
  if (targets.every(isDone)) return ended(plan, state, nowMs);
  const areOnlyRefused = targets.every(
    (phase, target) => isDone(phase, target) || phase === "unreached" || phase === "absent",
  );
  if (nowMs < untilMs && !(areOnlyRefused && nowMs >= sinceMs + plan.limits.refusedMs)) return stay(state, ...effects);
  const left = targets.flatMap((phase, target): readonly SwitchoverEffect[] =>
    phase === "closed" || phase === "left" ? [] : [{ kind: "leave", target }],
  );
  const after = targets.map((phase): TargetPhase => (phase === "closed" ? phase : "left"));
  return withEffects(ended(plan, { ...state, targets: after }, nowMs), left);
}

/** Resumes each pooler that was gone once it leads to the new primary, or at the deadline: it may have its old route. */
function withAbsent(
  plan: SwitchoverPlan,
  state: StateOf<"resuming">,
  nowMs: number,
): { readonly state: StateOf<"resuming">; readonly effects: readonly SwitchoverEffect[] } {
  const isDue = (phase: TargetPhase, target: number): boolean =>
    phase === "absent" && (nowMs >= state.deadlineMs || isLedTo(plan, state, target));
  const effects = state.targets.flatMap((phase, target): readonly SwitchoverEffect[] =>
    isDue(phase, target) ? [{ kind: "resume", target }] : [],
  );
  if (effects.length === 0) return { state, effects };
  return {
    state: { ...state, targets: state.targets.map((phase, at) => (isDue(phase, at) ? "resuming" : phase)) },
    effects,
  };
}

/** Follows a primary that may still appear, or ends. */
function ended(plan: SwitchoverPlan, state: StateOf<"resuming">, nowMs: number): SwitchoverTransition {
  const isResumed = state.targets.includes("left") ? [] : [step("resumed")];
  if (!awaitsPrimary(state.outcome)) return withEffects(finish(plan, state), isResumed);
  const untilMs = nowMs + plan.limits.followMs;
  return stay({ ...holdingOf(state), kind: "following", untilMs, outcome: state.outcome }, ...isResumed, {
    kind: "disarm",
  });
}

/** After these outcomes a primary may still appear, or change. */
function awaitsPrimary({ kind }: SettledOutcome): boolean {
  return kind === "unknown" || kind === "no_primary";
}

/**
 * What was unknown may become known after clients were resumed, and a new primary may be followed by another one.
 * @returns the outcome, and the node that the routes are to be led to; `null` if the event changes nothing
 */
function outcomeAfter(
  plan: SwitchoverPlan,
  outcome: SettledOutcome,
  event: SwitchoverEvent,
): { readonly outcome: SettledOutcome; readonly node: string | null } | null {
  const { leader } = plan;
  if (event.kind === "primary" && event.node !== null) {
    // Clients went on before it was back: the run has nothing more to wait for.
    const isBack = plan.start === "restart" && event.node === leader && event.pending === "done";
    if (isBack && awaitsPrimary(outcome)) return { outcome, node: null };
    const isNew = isLed(outcome) ? event.node !== outcome.node : event.node !== leader;
    if (!isNew || (!isLed(outcome) && !awaitsPrimary(outcome))) return null;
    return { outcome: ledOutcome(plan, event.node), node: event.node };
  }
  if (!awaitsPrimary(outcome) || event.kind !== "answered") return null;
  if (event.result.kind === "withheld") return { outcome: withheldOutcome, node: null };
  if (event.result.kind !== "refused") return null;
  const { status, reason } = event.result;
  return { outcome: { kind: "rejected", status, reason }, node: null };
}

function withEffects(
  { state, effects }: SwitchoverTransition,
  before: readonly SwitchoverEffect[],
): SwitchoverTransition {
  return { state, effects: [...before, ...effects] };
}
