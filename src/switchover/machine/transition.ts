import type { SwitchoverEffect, StepName } from "./effect.ts";
import type { SwitchoverEvent } from "./event.ts";
import { type SwitchoverPlan, pauseName } from "./plan.ts";
import type { Outcome, SwitchoverState, TargetPhase } from "./state.ts";

/** The next state, and what is to be done. */
export interface SwitchoverTransition {
  readonly state: SwitchoverState;
  readonly effects: readonly SwitchoverEffect[];
}

/** An event, and when it is handled, in ms of rolecall's clock. */
export interface Happened {
  readonly event: SwitchoverEvent;
  readonly nowMs: number;
}

/** One state of the union. */
export type StateOf<Kind extends SwitchoverState["kind"]> = Extract<SwitchoverState, { readonly kind: Kind }>;

/** Any state in which something may be paused. */
export type HoldingState = StateOf<"pausing" | "switching" | "routing" | "resuming">;

export function stay(state: SwitchoverState, ...effects: readonly SwitchoverEffect[]): SwitchoverTransition {
  return { state, effects };
}

export function end(outcome: Outcome, ...before: readonly SwitchoverEffect[]): SwitchoverTransition {
  return { state: { kind: "ended", outcome }, effects: [...before, { kind: "end", outcome }] };
}

export function step(name: StepName, text: string | null = null): SwitchoverEffect {
  return { kind: "step", step: name, text };
}

/** The phases with another one for one target. */
export function withPhase(targets: readonly TargetPhase[], target: number, phase: TargetPhase): readonly TargetPhase[] {
  return targets.map((known, at) => (at === target ? phase : known));
}

/** The name of a target in texts: `pgb1/orders`. */
export function pauseTargetName({ targets }: SwitchoverPlan, target: number): string {
  const found = targets[target];
  return found === undefined ? "an unknown pooler" : pauseName(found);
}

/**
 * Resumes everything that may be paused, and says at the end how it came out. What was not paused is only closed in
 * the intent.
 */
export function resumeAll(
  { limits }: SwitchoverPlan,
  { targets, deadlineMs, heardMs }: HoldingState,
  { outcome, nowMs }: { readonly outcome: Outcome; readonly nowMs: number },
): SwitchoverTransition {
  const left = targets.map((phase): TargetPhase => (phase === "withheld" ? "resumed" : "resuming"));
  const repeatAtMs = nowMs + limits.resumeMs;
  return {
    state: { kind: "resuming", targets: left, deadlineMs, ranAtMs: nowMs, heardMs, outcome, repeatAtMs },
    effects: [step("resuming", "reason" in outcome ? outcome.reason : null), ...effectsOfResuming(left)],
  };
}

/** What is still to be done for each target until its intent is closed. */
export function effectsOfResuming(targets: readonly TargetPhase[]): readonly SwitchoverEffect[] {
  return targets.flatMap((phase, target): readonly SwitchoverEffect[] => {
    if (phase === "resuming") return [{ kind: "resume", target }];
    return phase === "resumed" ? [{ kind: "close", target }] : [];
  });
}
