import { advanceSwitchover, beginSwitchover, wakeAtMs } from "../../src/features/switchover/machine/advance.ts";
import type { SwitchoverEvent } from "../../src/features/switchover/machine/event.ts";
import type { SwitchoverPlan } from "../../src/features/switchover/machine/plan.ts";
import type { SwitchoverState } from "../../src/features/switchover/machine/state.ts";
import { broken, untouchedWorld, worldAfterEffects, worldAfterEvent, type World } from "./switchover-world.ts";

/** A state of the machine and of the world that was reached. */
interface Reached {
  readonly state: SwitchoverState;
  readonly world: World;
  readonly nowMs: number;
  readonly path: readonly string[];
}

/** What an exploration found. */
export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  readonly kinds: ReadonlySet<string>;
  readonly violation: { readonly problem: string; readonly path: readonly string[] } | null;
}

const armed: readonly SwitchoverEvent[] = [
  { kind: "checked", refusal: null },
  { kind: "claimed", refusal: null },
  { kind: "armed", part: "intent" },
  { kind: "armed", part: "guardian" },
  { kind: "armed", part: "peer1" },
];
const paused: readonly SwitchoverEvent[] = [
  ...armed,
  { kind: "pause_answered", target: 0 },
  { kind: "pause_answered", target: 1 },
  { kind: "paused_read", target: 0, isPaused: true },
  { kind: "paused_read", target: 1, isPaused: true },
  ...["intent", "guardian", "peer1"].map((part): SwitchoverEvent => ({ kind: "told", part, problem: null })),
];
/** What to explore from: the events that lead there, and the states that must follow. */
export const exploredStarts: readonly {
  readonly name: string;
  readonly first: readonly SwitchoverEvent[];
  readonly follow: readonly string[];
}[] = [
  { name: "the beginning", first: [], follow: ["claiming", "arming", "pausing", "resuming", "ended"] },
  { name: "the first PAUSE", first: armed, follow: ["resuming", "ended"] },
  { name: "the last PAUSE", first: paused.slice(0, -3), follow: ["switching", "resuming", "ended"] },
  { name: "the request", first: paused, follow: ["routing", "resuming", "following", "ended"] },
  {
    name: "a new primary",
    first: [...paused, { kind: "primary", node: "pg2", pending: "no" }],
    follow: ["resuming", "ended"],
  },
];

/** Every event, about every target, route and peer of a plan. */
export function everyEvent({ targets, routes, peers, leader }: SwitchoverPlan): readonly SwitchoverEvent[] {
  const about = targets.flatMap((_, target): readonly SwitchoverEvent[] => [
    { kind: "pause_answered", target },
    { kind: "pause_failed", target, problem: "late" },
    { kind: "pause_withheld", target, problem: "paused already" },
    { kind: "paused_read", target, isPaused: true },
    { kind: "paused_read", target, isPaused: false },
    { kind: "resumed_elsewhere", target },
    { kind: "console_lost", target },
    { kind: "console_refused", target, problem: "the connection was refused" },
    { kind: "console_back", target },
    { kind: "restarted", target },
    { kind: "resumed", target },
    { kind: "not_resumed", target, problem: "late", isRefused: false },
    { kind: "not_resumed", target, problem: "refused", isRefused: true },
    { kind: "closed", target },
  ]);
  const parts = ["intent", "guardian", ...peers];
  return [
    { kind: "tick" },
    { kind: "checked", refusal: null },
    { kind: "checked", refusal: "no candidate" },
    { kind: "claimed", refusal: null },
    { kind: "claimed", refusal: "another run goes on" },
    ...parts.flatMap((part): readonly SwitchoverEvent[] => [
      { kind: "told", part, problem: null },
      { kind: "told", part, problem: "late" },
      { kind: "armed", part },
      { kind: "not_armed", part, problem: "no space left on device" },
    ]),
    ...about,
    { kind: "answered", result: { kind: "accepted" } },
    { kind: "answered", result: { kind: "refused", status: 412, reason: "no good candidates" } },
    { kind: "answered", result: { kind: "unknown", reason: "503" } },
    { kind: "primary", node: null, pending: "unknown" },
    { kind: "primary", node: leader, pending: "no" },
    { kind: "primary", node: leader, pending: "yes" },
    { kind: "primary", node: "pg2", pending: "no" },
    { kind: "primary", node: "pg3", pending: "unknown" },
    ...routes.flatMap((_, route): readonly SwitchoverEvent[] => [
      { kind: "routed", route, by: "verified" },
      { kind: "not_routed", route, problem: "not yet" },
    ]),
    ...peers.map((_, peer): SwitchoverEvent => ({ kind: "echo", peer })),
    { kind: "guardian_lost", why: "it ended", hasTakenOver: false },
    { kind: "give_up", reason: "an operator has resumed everything" },
    { kind: "fenced", by: "peer1" },
    { kind: "stop", reason: "rolecall stops" },
  ];
}

/**
 * Applies every event in every state that can be reached, at once, in time, just when time is over, and far too late.
 * @param first the events that lead to the state to begin with
 */
export function explore(
  plan: SwitchoverPlan,
  { first, depth }: { readonly first: readonly SwitchoverEvent[]; readonly depth: number },
): Exploration {
  const events = everyEvent(plan);
  const begun: Reached = { state: beginSwitchover(plan, 0).state, world: untouchedWorld(plan), nowMs: 0, path: [] };
  const start = first.reduce<Reached>((from, event) => sound(reach(plan, from, { event, waitMs: 0 })), begun);
  let level: readonly Reached[] = [start];
  const seen = new Set(level.map(keyOf));
  const kinds = new Set<string>([start.state.kind]);
  let transitions = 0;
  for (let at = 0; at < depth && level.length > 0; at += 1) {
    const next: Reached[] = [];
    for (const from of level)
      for (const event of events)
        for (const waitMs of waitsIn(from)) {
          transitions += 1;
          const reached = reach(plan, from, { event, waitMs });
          if ("problem" in reached) return { states: seen.size, transitions, kinds, violation: reached };
          const key = keyOf(reached);
          if (seen.has(key)) continue;
          seen.add(key);
          const stuck = settling(plan, reached, true) ?? settling(plan, reached, false);
          if (stuck !== null)
            return { states: seen.size, transitions, kinds, violation: { problem: stuck, path: reached.path } };
          kinds.add(reached.state.kind);
          next.push(reached);
        }
    level = next;
  }
  return { states: seen.size, transitions, kinds, violation: null };
}

function sound(reached: Reached | { readonly problem: string }): Reached {
  if ("problem" in reached) throw new Error(`Cannot begin: ${reached.problem}`);
  return reached;
}

/** How many steps a switchover takes at most once nothing happens but time, and poolers answer RESUME. */
const stepsMax = 120;

/**
 * Lets time pass: everything must be resumed by the deadline, and the run must end, even if no pooler answers.
 * @param isAnswered whether poolers answer each RESUME
 * @returns what does not happen; `null` if all does
 */
function settling(plan: SwitchoverPlan, from: Reached, isAnswered: boolean): string | null {
  let reached = from;
  let answers: readonly SwitchoverEvent[] = [];
  for (let count = 0; count < stepsMax; count += 1) {
    const { state, nowMs } = reached;
    const wakeMs = wakeAtMs(state);
    if (wakeMs === null) return null;
    const isHeld = reached.world.mayBePaused.includes(true);
    if (
      isAnswered &&
      isHeld &&
      "deadlineMs" in state &&
      state.kind !== "following" &&
      nowMs > state.deadlineMs + 3 * plan.limits.resumeMs &&
      count > 8
    )
      return `held ${nowMs - state.deadlineMs} ms after the deadline`;
    const [event = { kind: "tick" as const }, ...rest] = answers;
    const waitMs = answers.length > 0 ? 0 : Math.max(0, wakeMs - nowMs);
    const transition = advanceSwitchover(plan, state, { event, nowMs: nowMs + waitMs });
    const next = reach(plan, reached, { event, waitMs });
    if ("problem" in next) return next.problem;
    answers = [
      ...rest,
      ...transition.effects.flatMap((effect): readonly SwitchoverEvent[] => {
        if (effect.kind === "resume" && isAnswered) return [{ kind: "resumed", target: effect.target }];
        return effect.kind === "close" ? [{ kind: "closed", target: effect.target }] : [];
      }),
    ];
    reached = next;
  }
  return `does not end: ${reached.state.kind}`;
}

/** The times that make a difference: none, all that is left, and a process that stood still. */
function waitsIn({ state, nowMs }: Reached): readonly number[] {
  const wakeMs = wakeAtMs(state);
  if (wakeMs === null) return [0];
  const left = Math.max(0, wakeMs - nowMs);
  return [...new Set([0, left, left + 20_000])];
}

function reach(
  plan: SwitchoverPlan,
  from: Reached,
  { event, waitMs }: { readonly event: SwitchoverEvent; readonly waitMs: number },
): Reached | { readonly problem: string; readonly path: readonly string[] } {
  const nowMs = from.nowMs + waitMs;
  const path = [...from.path, `+${waitMs} ${JSON.stringify(event)}`];
  const transition = advanceSwitchover(plan, from.state, { event, nowMs });
  if (plan.start === "announced" && transition.effects.some(({ kind }) => kind === "request"))
    return { problem: "requested what somebody else has begun", path };
  const after = worldAfterEffects(worldAfterEvent(from.world, event), transition);
  if ("problem" in after) return { problem: after.problem, path };
  const problem = broken(transition.state, after.world, nowMs);
  return problem === null ? { state: transition.state, world: after.world, nowMs, path } : { problem, path };
}

/** States that differ in the time of day only are the same. */
function keyOf({ state, world, nowMs }: Reached): string {
  return JSON.stringify([state, world], (name, value: unknown) => {
    if (typeof value !== "number" || !name.endsWith("Ms")) return name === "heardMs" ? relative(value, nowMs) : value;
    return value - nowMs;
  });
}

function relative(value: unknown, nowMs: number): unknown {
  return Array.isArray(value) ? value.map((each: unknown) => Number(each) - nowMs) : value;
}
