import type { SwitchoverEffect } from "../../src/features/switchover/machine/effect.ts";
import type { SwitchoverEvent } from "../../src/features/switchover/machine/event.ts";
import type { SwitchoverPlan } from "../../src/features/switchover/machine/plan.ts";
import type { SwitchoverState } from "../../src/features/switchover/machine/state.ts";
import type { SwitchoverTransition } from "../../src/features/switchover/machine/transition.ts";
import { parseIntents, type WrittenIntents, withLowered } from "../../src/features/switchover/intent/pause-intent.ts";
import { isHoldDue, looksInRow, type PoolSight } from "../../src/features/switchover/hands/unserved.ts";
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
  /** When each PAUSE was sent, in ms of rolecall's clock; `null`: never. */
  readonly pausedAtMs: readonly (number | null)[];
  /** When the last client has to go on, whatever happens; `null` before the first PAUSE. */
  readonly limitAtMs: number | null;
  /** How often each pooler was seen without a server in a row, the last look included. */
  readonly inRow: readonly number[];
  /** The node that the rules accept as the primary now, and the last one that they did. */
  readonly primary: string | null;
  readonly lastPrimary: string | null;
  /** The node that clients are led to, and which routes are seen to lead there. */
  readonly led: string | null;
  readonly routed: readonly boolean[];
  /** Whether clients of each target go on for a reason of their own: somebody else has resumed them, or they never waited. */
  readonly isExcused: readonly boolean[];
  /** Whether an operator has resumed everything. */
  readonly isGivenUp: boolean;
  /** Whether `server_login_retry` of each target's pooler may have been lowered. */
  readonly isLowered: readonly boolean[];
}

/** What happens around the machine, beside its own events: a look at a pooler after a sign of a loss. */
export type WorldEvent =
  SwitchoverEvent | { readonly kind: "look"; readonly target: number; readonly sight: PoolSight };

export const twoTargets: SwitchoverPlan = switchoverPlan;

/** The same, where somebody else begins: a peer does not have to be there. */
export const twoAnnouncedTargets: SwitchoverPlan = {
  ...twoTargets,
  candidate: null,
  start: "announced",
  limits: { ...twoTargets.limits, armMs: 400, quietMs: 3_000 },
};

/** The same after a loss: clients are held where they would be refused, and nothing is asked for. */
export const twoLostTargets: SwitchoverPlan = {
  ...twoAnnouncedTargets,
  start: "loss",
  targets: twoTargets.targets.map((target, at) => ({ ...target, routes: [at] })),
  routes: [
    { balancer: "pgb1", database: "orders" },
    { balancer: "lb1", database: null },
  ],
  limits: { ...twoAnnouncedTargets.limits, followMs: 0 },
};

/** A restart of the leader. */
export const twoRestartedTargets: SwitchoverPlan = {
  ...twoTargets,
  candidate: null,
  start: "restart",
  restart: { isLeader: true, startedAt: "2026-11-30 04:00:00+00:00" },
  limits: { ...twoTargets.limits, quietMs: 3_000 },
};

export function untouchedWorld({ targets, routes, leader }: SwitchoverPlan): World {
  const none = targets.map(() => false);
  return {
    mayBePaused: none,
    isIntended: none,
    isResumed: none,
    isLeft: none,
    isIntentWritten: false,
    requests: 0,
    pausedAtMs: targets.map(() => null),
    limitAtMs: null,
    inRow: targets.map(() => 0),
    primary: leader,
    lastPrimary: leader,
    led: null,
    routed: routes.map(() => false),
    isExcused: none,
    isGivenUp: false,
    isLowered: none,
  };
}

/** The event that the machine gets: of a look, whether the clients of the pooler are to be held. */
export function machineEventOf(world: World, event: WorldEvent): SwitchoverEvent {
  if (event.kind !== "look") return event;
  const inRow = event.sight === "unserved" ? (world.inRow[event.target] ?? 0) + 1 : 0;
  const isDue = isHoldDue("connection_ended", event.sight, inRow);
  return isDue ? { kind: "unserved", target: event.target } : { kind: "tick" };
}

/** What an event says of the world. An event that cannot be true there, such as a RESUME that was never sent, says nothing. */
export function worldAfterEvent(world: World, event: WorldEvent): World {
  if (event.kind === "look") {
    const inRow = event.sight === "unserved" ? Math.min(looksInRow, (world.inRow[event.target] ?? 0) + 1) : 0;
    return { ...world, inRow: withAt(world.inRow, event.target, inRow) };
  }
  if (event.kind === "primary") return { ...world, primary: event.node, lastPrimary: event.node ?? world.lastPrimary };
  if (event.kind === "routed") return { ...world, routed: changed(world.routed, event.route, true) };
  if (event.kind === "give_up") return { ...world, isGivenUp: true };
  if (event.kind === "armed" && event.part === "intent" && !world.isIntentWritten)
    return { ...world, isIntentWritten: true, isIntended: world.isIntended.map(() => true) };
  const isOver =
    event.kind === "pause_withheld" ||
    event.kind === "restarted" ||
    (event.kind === "resumed" && world.isResumed[event.target] === true);
  const after = isOver ? { ...world, mayBePaused: changed(world.mayBePaused, event.target, false) } : world;
  return isExcuse(event) ? { ...after, isExcused: changed(after.isExcused, event.target, true) } : after;
}

/** Whether clients of a target may go on without a primary: they do not wait any more, or not because of the run. */
function isExcuse(event: SwitchoverEvent): event is Extract<SwitchoverEvent, { readonly target: number }> {
  const { kind } = event;
  if (kind === "paused_read") return !event.isPaused;
  // A PAUSE of the process that is gone may still arrive, so the database may be paused all the same.
  if (kind === "not_held") return true;
  return kind === "pause_failed" || kind === "pause_withheld" || kind === "resumed_elsewhere" || kind === "restarted";
}

/** What the effects of a transition do to the world. @returns the world, or what must not happen */
export function worldAfterEffects(
  world: World,
  { state, effects }: SwitchoverTransition,
  { plan, nowMs }: { readonly plan: SwitchoverPlan; readonly nowMs: number },
): { readonly world: World } | { readonly problem: string } {
  let next = world;
  for (const effect of effects) {
    const problem = problemOf(next, state, effect) ?? lossProblem(next, effect, { plan, state, nowMs });
    if (problem !== null) return { problem };
    next = applied(next, effect, { plan, nowMs });
  }
  return { world: next };
}

/** What a hold after a loss must not do: pause a pooler that has a server, or let clients go on without a primary. */
function lossProblem(
  world: World,
  effect: SwitchoverEffect,
  { plan, state, nowMs }: { readonly plan: SwitchoverPlan; readonly state: SwitchoverState; readonly nowMs: number },
): string | null {
  if (plan.start !== "loss") return null;
  if (effect.kind === "pause")
    return (world.inRow[effect.target] ?? 0) < looksInRow
      ? `PAUSE of target ${effect.target}, which may have a server`
      : null;
  if (effect.kind !== "resume" || world.isResumed[effect.target] === true) return null;
  const { primary, lastPrimary, led, isGivenUp, isExcused } = world;
  // The time counts from the sign of the loss: a pooler that is held later goes on earlier.
  const isLate = "deadlineMs" in state && nowMs >= state.deadlineMs;
  const isOver = isGivenUp || isLate || isExcused[effect.target] === true;
  const isBack = led === null && primary === plan.leader;
  const own = plan.targets[effect.target]?.routes ?? [];
  const isLedThere = led !== null && led === lastPrimary && own.every((route) => world.routed[route] === true);
  return isOver || isBack || isLedThere ? null : `RESUME of target ${effect.target} onto ${led ?? "no primary"}`;
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

function applied(
  world: World,
  effect: SwitchoverEffect,
  { plan, nowMs }: { readonly plan: SwitchoverPlan; readonly nowMs: number },
): World {
  if (effect.kind === "pause")
    return {
      ...world,
      mayBePaused: changed(world.mayBePaused, effect.target, true),
      isExcused: changed(world.isExcused, effect.target, false),
      isResumed: changed(world.isResumed, effect.target, false),
      pausedAtMs: withAt(world.pausedAtMs, effect.target, nowMs),
      limitAtMs: world.limitAtMs ?? nowMs + plan.limits.deadlineMs,
    };
  if (effect.kind === "resume")
    return {
      ...world,
      isResumed: changed(world.isResumed, effect.target, true),
      isLowered: changed(world.isLowered, effect.target, true),
    };
  if (effect.kind === "route" && effect.node !== world.led)
    return { ...world, led: effect.node, routed: world.routed.map(() => false) };
  if (effect.kind === "close") return { ...world, isIntended: changed(world.isIntended, effect.target, false) };
  if (effect.kind === "leave") return { ...world, isLeft: changed(world.isLeft, effect.target, true) };
  // What is left stays on the disk.
  if (effect.kind === "disarm") return { ...world, isIntended: world.isLeft };
  return effect.kind === "request" ? { ...world, requests: world.requests + 1 } : world;
}

function changed(list: readonly boolean[], at: number, value: boolean): readonly boolean[] {
  return withAt(list, at, value);
}

function withAt<T>(list: readonly T[], at: number, value: T): readonly T[] {
  return list.map((known, index) => (index === at ? value : known));
}

/** The value of `server_login_retry` before the run. */
const beforeS = "15";
const console = { address: { host: "127.0.0.1", port: 6432 }, user: "rolecall", passwordFile: null, tls: null };

/** What is on the disk. A setting may be lowered since an earlier run: its value is that before both. */
function fileOf({ targets, run, cluster }: SwitchoverPlan, { isIntended, isIntentWritten }: World): WrittenIntents {
  const lowered = targets.map(({ pooler }) => ({ pooler, console, before: beforeS }));
  const open = targets.filter((_, target) => isIntended[target] === true);
  const paused = open.map(({ pooler, database }) => ({ pooler, database, console }));
  const intents = open.length === 0 ? [] : [{ run, cluster, deadlineWallMs: 0, finish: null, targets: paused }];
  return { intents, lowered: isIntentWritten ? withLowered([], lowered) : [] };
}

/**
 * Tells of each world whether the next process sets back what this one may have lowered, if this one dies now.
 * What is on the disk follows from a few booleans: each file is written and read once.
 * @param write how the file is written
 * @returns of a world what is not set back; `null` if all is
 */
export function restorer(plan: SwitchoverPlan, write: (written: WrittenIntents) => string) {
  const found = new Map<string, string | null>();
  return (world: World): string | null => {
    if (!world.isLowered.includes(true)) return null;
    const key = `${world.isIntentWritten} ${world.isIntended.join()} ${world.isLowered.join()}`;
    const known = found.get(key);
    if (known !== undefined) return known;
    const problem = unrestored(plan, world, write);
    found.set(key, problem);
    return problem;
  };
}

function unrestored(plan: SwitchoverPlan, world: World, write: (written: WrittenIntents) => string): string | null {
  const read = parseIntents(write(fileOf(plan, world)));
  for (const [target, isLowered] of world.isLowered.entries()) {
    const pooler = plan.targets[target]?.pooler;
    const isKnown = read?.lowered.some((one) => one.pooler === pooler && one.before === beforeS) === true;
    if (isLowered && !isKnown)
      return `server_login_retry of target ${target} is lowered, and nobody knows its old value`;
  }
  return null;
}

/** What must hold in every state. @returns what does not; `null` if all does */
export function broken(state: SwitchoverState, world: World, nowMs: number): string | null {
  for (const [target, mayBePaused] of world.mayBePaused.entries()) {
    const isHeld = mayBePaused && world.isResumed[target] !== true && world.isLeft[target] !== true;
    if (isHeld && world.limitAtMs !== null && nowMs >= world.limitAtMs)
      return `target ${target} is held longer than the limit`;
  }
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
