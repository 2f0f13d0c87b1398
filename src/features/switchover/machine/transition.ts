import type { SwitchoverEffect, StepName } from "./effect.ts";
import type { SwitchoverEvent } from "./event.ts";
import { type SwitchoverPlan, pauseName } from "./plan.ts";
import {
  isLed,
  type Outcome,
  type RouteState,
  type SettledOutcome,
  type SwitchoverState,
  type TargetPhase,
} from "./state.ts";

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
export type HoldingState = StateOf<"pausing" | "telling" | "switching" | "routing" | "resuming" | "following">;

export function stay(state: SwitchoverState, ...effects: readonly SwitchoverEffect[]): SwitchoverTransition {
  return { state, effects };
}

export function end(outcome: Outcome, ...before: readonly SwitchoverEffect[]): SwitchoverTransition {
  return { state: { kind: "ended", outcome }, effects: [...before, { kind: "end", outcome }] };
}

export function step(name: StepName, text: string | null = null): SwitchoverEffect {
  return { kind: "step", step: name, text };
}

/** A list with another value at one place. */
export function withAt<T>(list: readonly T[], at: number, value: T): readonly T[] {
  return list.map((known, index) => (index === at ? value : known));
}

/** The name of a target in texts: `pgb1/orders`. */
export function pauseTargetName({ targets }: SwitchoverPlan, target: number): string {
  const found = targets[target];
  return found === undefined ? "an unknown pooler" : pauseName(found);
}

/** What every state in which something may be paused has. */
export function holdingOf({ targets, problems, deadlineMs, ranAtMs, heardMs }: HoldingState): {
  readonly targets: readonly TargetPhase[];
  readonly problems: readonly (string | null)[];
  readonly deadlineMs: number;
  readonly ranAtMs: number;
  readonly heardMs: readonly number[];
} {
  return { targets, problems, deadlineMs, ranAtMs, heardMs };
}

/** Whether the clients of a target are held, and nothing was sent to let them go on. */
export function isHeld(phase: TargetPhase): boolean {
  return phase === "asked" || phase === "paused" || phase === "confirmed";
}

/** The same, and what another process may have paused before it died. */
export function isToResume(phase: TargetPhase): boolean {
  return isHeld(phase) || phase === "unheld";
}

/**
 * Resumes everything that may be paused, and says at the end how it came out. What was not paused is only closed in
 * the intent.
 */
export function resumeAll(
  { limits, cutsAtEnd }: SwitchoverPlan,
  from: HoldingState,
  { outcome, nowMs }: { readonly outcome: SettledOutcome; readonly nowMs: number },
): SwitchoverTransition {
  const before = holdingOf(from);
  // A pooler that is gone is led to a new primary before it is resumed, while there is time for that.
  const isAwaited = isLed(outcome) && nowMs < before.deadlineMs;
  const targets = before.targets.map((phase): TargetPhase => {
    if (phase === "withheld" || phase === "watched") return "resumed";
    return isToResume(phase) || (phase === "absent" && !isAwaited) ? "resuming" : phase;
  });
  const routes: readonly RouteState[] = "routes" in from ? from.routes : [];
  const times = { sinceMs: nowMs, untilMs: nowMs + limits.settleMs, repeatAtMs: nowMs + limits.resumeMs };
  const begun = targets.filter((phase, at) => phase === "resuming" && phase !== before.targets[at]);
  return {
    state: { kind: "resuming", ...before, ranAtMs: nowMs, targets, outcome, routes, ...times },
    effects: [
      ...(cutsAtEnd && outcome.kind === "no_primary" ? [{ kind: "cut" } as const] : []),
      ...(begun.length === 0 ? [] : [step("resuming", "reason" in outcome ? outcome.reason : null)]),
      ...targets.flatMap((phase, target) => (phase === before.targets[target] ? [] : effectsOfTarget(phase, target))),
    ],
  };
}

/** What is still to be done for each target until its intent is closed. */
export function effectsOfResuming(targets: readonly TargetPhase[]): readonly SwitchoverEffect[] {
  return targets.flatMap(effectsOfTarget);
}

function effectsOfTarget(phase: TargetPhase, target: number): readonly SwitchoverEffect[] {
  if (phase === "resuming" || phase === "unreached") return [{ kind: "resume", target }];
  return phase === "resumed" ? [{ kind: "close", target }] : [];
}
