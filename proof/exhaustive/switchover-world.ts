import type { SwitchoverEffect } from "../../src/features/switchover/machine/effect.ts";
import type { SwitchoverEvent } from "../../src/features/switchover/machine/event.ts";
import type { SwitchoverPlan } from "../../src/features/switchover/machine/plan.ts";
import type { SwitchoverState } from "../../src/features/switchover/machine/state.ts";
import type { SwitchoverTransition } from "../../src/features/switchover/machine/transition.ts";
import { switchoverPlan } from "../../test/fake/switchover-plan.ts";

/** What is true outside of the machine, whatever it believes. */
export interface World {
  /** Whether each target may be paused now or later, because a PAUSE of ours is under way or took effect. */
  readonly mayBePaused: readonly boolean[];
  /** Whether the intent on disk says so. */
  readonly isIntended: readonly boolean[];
  /** Whether a RESUME was sent to each target, so that its effect can be seen. */
  readonly isResumed: readonly boolean[];
  /** Whether each target was left to the work that goes on without the run. */
  readonly isLeft: readonly boolean[];
  readonly isIntentWritten: boolean;
  readonly requests: number;
}

export const twoTargets: SwitchoverPlan = switchoverPlan;

/** The same, where somebody else begins: a peer does not have to be there. */
export const twoAnnouncedTargets: SwitchoverPlan = {
  ...twoTargets,
  candidate: null,
  start: "announced",
  limits: { ...twoTargets.limits, armMs: 400, quietMs: 3_000 },
};

export function untouchedWorld({ targets }: SwitchoverPlan): World {
  const none = targets.map(() => false);
  return { mayBePaused: none, isIntended: none, isResumed: none, isLeft: none, isIntentWritten: false, requests: 0 };
}

/** What an event says of the world. An event that cannot be true there, such as a RESUME that was never sent, says nothing. */
export function worldAfterEvent(world: World, event: SwitchoverEvent): World {
  if (event.kind === "armed" && event.part === "intent" && !world.isIntentWritten)
    return { ...world, isIntentWritten: true, isIntended: world.isIntended.map(() => true) };
  const isOver =
    event.kind === "pause_withheld" ||
    event.kind === "restarted" ||
    (event.kind === "resumed" && world.isResumed[event.target] === true);
  return isOver ? { ...world, mayBePaused: changed(world.mayBePaused, event.target, false) } : world;
}

/** What the effects of a transition do to the world. @returns the world, or what must not happen */
export function worldAfterEffects(
  world: World,
  { state, effects }: SwitchoverTransition,
): { readonly world: World } | { readonly problem: string } {
  let next = world;
  for (const effect of effects) {
    const problem = problemOf(next, state, effect);
    if (problem !== null) return { problem };
    next = applied(next, effect);
  }
  return { world: next };
}

function problemOf(world: World, state: SwitchoverState, effect: SwitchoverEffect): string | null {
  if (effect.kind === "pause" && !world.isIntentWritten) return "PAUSE before the intent is written";
  if (effect.kind === "close" && world.mayBePaused[effect.target] === true)
    return `the intent of target ${effect.target} is closed while it may be paused`;
  if (effect.kind === "leave" && state.kind !== "ended" && state.kind !== "following") return `left in ${state.kind}`;
  const isOpen = world.mayBePaused.some((mayBePaused, target) => mayBePaused && world.isLeft[target] !== true);
  if (effect.kind === "disarm" && isOpen) return "disarmed while something may be paused";
  if (effect.kind === "request") return requestProblem(world, state);
  const isIntended = world.isIntended.some((intended, target) => intended && world.isLeft[target] !== true);
  if (effect.kind === "end" && (isOpen || isIntended))
    return world.requests > 0 || isOpen ? "ended with an open intent or a pause" : null;
  if (effect.kind === "end" && world.isLeft.includes(true) && effect.outcome.kind !== "unfinished")
    return `left a target, and ended as ${effect.outcome.kind}`;
  return null;
}

/** A switchover is requested once, while all clients are held, and somebody else would resume them. */
function requestProblem(world: World, state: SwitchoverState): string | null {
  if (world.requests > 0) return "requested twice";
  if (state.kind !== "switching") return `requested, and then ${state.kind}`;
  const { targets, heardMs, ranAtMs, deadlineMs } = state;
  if (targets.some((phase) => phase !== "confirmed")) return "requested before every PAUSE was read back";
  if (world.mayBePaused.includes(false)) return "requested while a pooler is not paused";
  if (heardMs.some((heard) => ranAtMs - heard > twoTargets.limits.silenceMs)) return "requested without a peer";
  return ranAtMs < deadlineMs ? null : "requested after the deadline";
}

function applied(world: World, effect: SwitchoverEffect): World {
  if (effect.kind === "pause") return { ...world, mayBePaused: changed(world.mayBePaused, effect.target, true) };
  if (effect.kind === "resume") return { ...world, isResumed: changed(world.isResumed, effect.target, true) };
  if (effect.kind === "close") return { ...world, isIntended: changed(world.isIntended, effect.target, false) };
  if (effect.kind === "leave") return { ...world, isLeft: changed(world.isLeft, effect.target, true) };
  // What is left stays on the disk.
  if (effect.kind === "disarm") return { ...world, isIntended: world.isLeft };
  return effect.kind === "request" ? { ...world, requests: world.requests + 1 } : world;
}

function changed(list: readonly boolean[], at: number, value: boolean): readonly boolean[] {
  return list.map((known, index) => (index === at ? value : known));
}

/** What must hold in every state. @returns what does not; `null` if all does */
export function broken(state: SwitchoverState, world: World, nowMs: number): string | null {
  for (const [target, mayBePaused] of world.mayBePaused.entries()) {
    if (!mayBePaused) continue;
    if (world.isIntended[target] !== true) return `target ${target} may be paused without an intent`;
    if (world.isLeft[target] === true) continue;
    const phase = "targets" in state ? state.targets[target] : undefined;
    const isSent = phase === "resuming" || phase === "unreached";
    if ("repeatAtMs" in state && isSent && state.repeatAtMs > nowMs) continue;
    const isHeld = state.kind !== "resuming" || phase === "absent";
    const isAhead = "deadlineMs" in state && isHeld && state.deadlineMs > nowMs;
    if (!isAhead) return `target ${target} may be paused in ${state.kind} without a deadline ahead`;
  }
  return null;
}
