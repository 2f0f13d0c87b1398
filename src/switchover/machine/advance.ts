import { advanceArming, advanceChecking, advancePausing } from "./before-request.ts";
import { advanceRouting, advanceSwitching } from "./after-request.ts";
import { advanceFollowing, advanceResuming } from "./resuming.ts";
import type { SwitchoverEvent } from "./event.ts";
import type { SwitchoverPlan } from "./plan.ts";
import type { SwitchoverState } from "./state.ts";
import { onTime } from "./on-time.ts";
import type { SwitchoverTransition } from "./transition.ts";

/** Begins a switchover: its checks. @param nowMs of rolecall's clock */
export function beginSwitchover({ limits }: SwitchoverPlan, nowMs: number): SwitchoverTransition {
  return { state: { kind: "checking", untilMs: nowMs + limits.checkMs }, effects: [{ kind: "check" }] };
}

/**
 * What follows from an event. Time is looked at first, whatever the event: the process may have been stopped and
 * continued, so no effect may come from a deadline that was read earlier.
 * @param nowMs of rolecall's clock
 */
export function advanceSwitchover(
  plan: SwitchoverPlan,
  state: SwitchoverState,
  { event, nowMs }: { readonly event: SwitchoverEvent; readonly nowMs: number },
): SwitchoverTransition {
  const timely = onTime(plan, state, nowMs);
  // Nothing that happened before a PAUSE or a RESUME is sent can be its effect.
  const isEarlyAnswer =
    ((event.kind === "resumed" || event.kind === "closed") && state.kind !== "resuming") ||
    ("target" in event && state.kind === "arming");
  const next = isEarlyAnswer
    ? { state: timely.state, effects: [] }
    : advanceState(plan, timely.state, { event, nowMs });
  return { state: withRun(next.state, nowMs), effects: [...timely.effects, ...next.effects] };
}

/** When the machine must run again at the latest, in ms of rolecall's clock; `null` after the end. */
export function wakeAtMs(state: SwitchoverState): number | null {
  switch (state.kind) {
    case "checking":
    case "arming":
    case "following":
      return state.untilMs;
    case "pausing":
      return Math.min(state.untilMs, state.deadlineMs);
    case "switching":
    case "routing":
      return state.deadlineMs;
    case "resuming":
      return state.repeatAtMs;
    case "ended":
      return null;
  }
}

function advanceState(
  plan: SwitchoverPlan,
  state: SwitchoverState,
  happened: { readonly event: SwitchoverEvent; readonly nowMs: number },
): SwitchoverTransition {
  switch (state.kind) {
    case "checking":
      return advanceChecking(plan, state, happened);
    case "arming":
      return advanceArming(plan, state, happened);
    case "pausing":
      return advancePausing(plan, state, happened);
    case "switching":
      return advanceSwitching(plan, state, happened);
    case "routing":
      return advanceRouting(plan, state, happened);
    case "resuming":
      return advanceResuming(plan, state, happened);
    case "following":
      return advanceFollowing(plan, state, happened);
    case "ended":
      return { state, effects: [] };
  }
}

function withRun(state: SwitchoverState, nowMs: number): SwitchoverState {
  return "ranAtMs" in state ? { ...state, ranAtMs: nowMs } : state;
}
