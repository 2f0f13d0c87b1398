import { advanceArming, advanceChecking, advanceClaiming, advancePausing, advanceTelling } from "./before-request.ts";
import { advanceRouting, advanceSwitching } from "./after-request.ts";
import { advanceFollowing, advanceResuming } from "./resuming.ts";
import type { SwitchoverEvent } from "./event.ts";
import { isAsked, type SwitchoverPlan } from "./plan.ts";
import type { SwitchoverState } from "./state.ts";
import { onTime } from "./on-time.ts";
import { resumeAll, stay, type SwitchoverTransition, withAt } from "./transition.ts";

/** Begins a switchover: its checks. @param nowMs of rolecall's clock */
export function beginSwitchover({ start, limits }: SwitchoverPlan, nowMs: number): SwitchoverTransition {
  // After a loss there is no time to ask anybody anything: what is checked is whether poolers refuse their clients.
  if (start === "loss")
    return { state: { kind: "claiming", untilMs: nowMs + limits.claimMs }, effects: [{ kind: "claim" }] };
  return { state: { kind: "checking", untilMs: nowMs + limits.checkMs }, effects: [{ kind: "check" }] };
}

/** How far a run was whose process has died, or stands still. */
export interface AdoptedRun {
  /** Whether the switchover may have been requested: else nothing was changed, and clients go on at once. */
  readonly mayBeRequested: boolean;
  /** Positions of the targets that may be paused. */
  readonly open: readonly number[];
  /** Those of them that may not be paused yet after a loss: which of them are is found out. */
  readonly watched: readonly number[];
  /** When everything is resumed, whatever happens, in ms of rolecall's clock. */
  readonly deadlineMs: number;
  /** Why this process finishes it. */
  readonly why: string;
}

/** What is known of the request of a run that another process has begun. */
const adoptedRequests = { request: "unknown", restart: "unknown", announced: "announced", loss: "lost" } as const;

/** Goes on with a run of another process. Where it was requested, a new primary is waited for as that process did. */
export function adoptSwitchover(
  plan: SwitchoverPlan,
  { mayBeRequested, open, deadlineMs, why }: Omit<AdoptedRun, "watched">,
  nowMs: number,
): SwitchoverTransition {
  const held = {
    kind: "switching",
    targets: plan.targets.map((_, target) => (open.includes(target) ? "confirmed" : "closed")),
    problems: plan.targets.map(() => null),
    deadlineMs,
    ranAtMs: nowMs,
    heardMs: plan.peers.map(() => nowMs),
    request: adoptedRequests[plan.start],
    // Not known here: that the old leader is the primary is no sign that it leads again, and after a loss it is not.
    primary: plan.start === "loss" ? null : plan.leader,
    quietSinceMs: null,
    lookUntilMs: plan.start === "loss" ? nowMs + plan.limits.lookMs : null,
    guard: plan.start === "loss" ? "second" : null,
    repeatAtMs: nowMs + plan.limits.resumeMs,
  } as const satisfies SwitchoverState;
  if (mayBeRequested || !isAsked(plan.start)) return stay(held);
  return resumeAll(plan, held, { outcome: { kind: "aborted", reason: why }, nowMs });
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
  const next = isEarly(state, event)
    ? { state: timely.state, effects: [] }
    : advanceState(plan, timely.state, { event, nowMs });
  return { state: withRun(next.state, nowMs), effects: [...timely.effects, ...next.effects] };
}

/** When the machine must run again at the latest, in ms of rolecall's clock; `null` after the end. */
export function wakeAtMs(state: SwitchoverState): number | null {
  switch (state.kind) {
    case "checking":
    case "claiming":
    case "arming":
    case "following":
      return state.untilMs;
    case "pausing":
    case "telling":
      return Math.min(state.untilMs, state.deadlineMs);
    case "switching":
      return Math.min(state.deadlineMs, state.repeatAtMs);
    case "routing":
      return hasSent(state) ? Math.min(state.deadlineMs, state.repeatAtMs) : state.deadlineMs;
    case "resuming":
      return Math.min(state.untilMs, state.repeatAtMs);
    case "ended":
      return null;
  }
}

/** Nothing that happened before a PAUSE or a RESUME is sent can be its effect. */
function isEarly(state: SwitchoverState, event: SwitchoverEvent): boolean {
  if (!("target" in event)) return false;
  if (!("targets" in state)) return true;
  const phase = state.targets[event.target];
  if (event.kind === "closed") return phase !== "resumed";
  const isAnswer = event.kind === "resumed" || event.kind === "not_resumed";
  return isAnswer && phase !== "resuming" && phase !== "unreached";
}

function advanceState(
  plan: SwitchoverPlan,
  state: SwitchoverState,
  happened: { readonly event: SwitchoverEvent; readonly nowMs: number },
): SwitchoverTransition {
  const { event, nowMs } = happened;
  if (event.kind === "let_go" && "targets" in state)
    return advanceState(
      plan,
      { ...state, targets: withAt(state.targets, event.target, "closed") },
      { event: { kind: "tick" }, nowMs },
    );
  switch (state.kind) {
    case "checking":
      return advanceChecking(plan, state, happened);
    case "claiming":
      return advanceClaiming(plan, state, happened);
    case "arming":
      return advanceArming(plan, state, happened);
    case "pausing":
      return advancePausing(plan, state, happened);
    case "telling":
      return advanceTelling(plan, state, happened);
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

/** Whether a RESUME was sent whose effect is not seen, or not written down. */
function hasSent({ targets }: Extract<SwitchoverState, { readonly kind: "routing" }>): boolean {
  return targets.some((phase) => phase === "resuming" || phase === "unreached" || phase === "resumed");
}

function withRun(state: SwitchoverState, nowMs: number): SwitchoverState {
  return "ranAtMs" in state ? { ...state, ranAtMs: nowMs } : state;
}
