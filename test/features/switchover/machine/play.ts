import assert from "node:assert/strict";
import { advanceSwitchover, beginSwitchover, wakeAtMs } from "../../../../src/features/switchover/machine/advance.ts";
import type { SwitchoverEffect } from "../../../../src/features/switchover/machine/effect.ts";
import type { SwitchoverEvent } from "../../../../src/features/switchover/machine/event.ts";
import { switchoverPlan } from "../../../fake/switchover-plan.ts";
import type { SwitchoverPlan } from "../../../../src/features/switchover/machine/plan.ts";
import type { SwitchoverTransition } from "../../../../src/features/switchover/machine/transition.ts";
import type { SwitchoverState } from "../../../../src/features/switchover/machine/state.ts";

/** Two targets, each with a route of its own, and a peer. */
export const plan: SwitchoverPlan = {
  ...switchoverPlan,
  targets: switchoverPlan.targets.map((target, at) => ({ ...target, routes: [at] })),
  routes: [
    { balancer: "pgb1", database: "orders" },
    { balancer: "lb1", database: null },
  ],
};

/** An event, after so many ms. */
export type Timed = readonly [waitMs: number, event: SwitchoverEvent];

export const tick: SwitchoverEvent = { kind: "tick" };
/** So many ms in which the process runs, and nothing else happens. */
export const passing = (ms: number): readonly Timed[] => Array.from({ length: ms / 500 }, () => [500, tick] as const);
export const armed: readonly Timed[] = [
  [0, { kind: "checked", refusal: null }],
  [5, { kind: "claimed", refusal: null }],
  [10, { kind: "armed", part: "intent" }],
  [10, { kind: "armed", part: "guardian" }],
  [10, { kind: "armed", part: "peer1" }],
];
/** What both PgBouncers answer to PAUSE, and say afterwards. */
export const answered: readonly Timed[] = [
  [20, { kind: "pause_answered", target: 0 }],
  [20, { kind: "pause_answered", target: 1 }],
  [1, { kind: "paused_read", target: 1, isPaused: true }],
  [1, { kind: "paused_read", target: 0, isPaused: true }],
];
/** All who would finish the run know that the switchover is requested next. */
export const told: readonly Timed[] = ["intent", "guardian", "peer1"].map((part) => [
  1,
  { kind: "told", part, problem: null },
]);
export const paused: readonly Timed[] = [...armed, ...answered, ...told];
export const led: readonly Timed[] = [...paused, [1_000, { kind: "primary", node: "pg2", pending: "no" }]];
export const resumed: readonly Timed[] = [
  [5, { kind: "resumed", target: 0 }],
  [5, { kind: "resumed", target: 1 }],
  [5, { kind: "closed", target: 0 }],
  [5, { kind: "closed", target: 1 }],
];
export const routed: readonly Timed[] = [
  [20, { kind: "routed", route: 0, by: "verified" }],
  [20, { kind: "routed", route: 1, by: "waited" }],
];

interface Played {
  readonly state: SwitchoverState;
  readonly effects: readonly SwitchoverEffect[];
  readonly nowMs: number;
}

export function play(events: readonly Timed[], over: Partial<SwitchoverPlan> = {}): Played {
  const of = { ...plan, ...over };
  return playFrom(beginSwitchover(of, 0), events, of);
}

/** What follows from a state at time 0. */
export function playFrom(begun: SwitchoverTransition, events: readonly Timed[], of: SwitchoverPlan = plan): Played {
  return events.reduce<Played>(
    (from, [waitMs, event]) => {
      const nowMs = from.nowMs + waitMs;
      const { state, effects } = advanceSwitchover(of, from.state, { event, nowMs });
      return { state, effects: [...from.effects, ...effects], nowMs };
    },
    { ...begun, nowMs: 0 },
  );
}

/** The effects in words, without those for people. */
export function wordsOf(effects: readonly SwitchoverEffect[]): string {
  return effects
    .flatMap((effect) => {
      if (effect.kind === "step" || effect.kind === "end") return [];
      if ("target" in effect) return [`${effect.kind}${effect.target}`];
      return [effect.kind === "route" ? `route:${effect.node}` : effect.kind];
    })
    .join(" ");
}

export const toArmed = "check claim arm";
export const toPaused = `${toArmed} pause0 pause1 read_paused0 read_paused1 tell request`;
export const undone = "resume0 resume1 close0 close1";

/** What leads to an outcome, the effects, and the outcome with what it says. */
export type MachineRow = readonly [
  title: string,
  events: readonly Timed[],
  effects: string,
  outcome: RegExp,
  over?: Partial<SwitchoverPlan>,
];

/** Plays a row, and compares. */
export function checkRow([, events, effects, outcome, over]: MachineRow): void {
  const played = play(events, over);
  assert.equal(wordsOf(played.effects), effects);
  assert.equal(played.state.kind, "ended");
  assert.match(JSON.stringify("outcome" in played.state ? played.state.outcome : null), outcome);
  assert.equal(wakeAtMs(played.state), null);
}
