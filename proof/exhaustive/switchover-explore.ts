import {
  adoptSwitchover,
  advanceSwitchover,
  beginSwitchover,
  wakeAtMs,
} from "../../src/features/switchover/machine/advance.ts";
import type { SwitchoverEvent } from "../../src/features/switchover/machine/event.ts";
import type { SwitchoverPlan } from "../../src/features/switchover/machine/plan.ts";
import type { SwitchoverState } from "../../src/features/switchover/machine/state.ts";
import type { SwitchoverTransition } from "../../src/features/switchover/machine/transition.ts";
import { type WrittenIntents, writtenIntents } from "../../src/features/switchover/intent/pause-intent.ts";
import {
  broken,
  machineEventOf,
  restorer,
  untouchedWorld,
  type World,
  type WorldEvent,
  worldAfterEffects,
  worldAfterEvent,
} from "./switchover-world.ts";

/** A state of the machine and of the world that was reached. */
interface Reached {
  readonly state: SwitchoverState;
  readonly world: World;
  readonly nowMs: number;
  /** What led here; `null` at the start. */
  readonly last: { readonly from: Reached; readonly step: Step } | null;
}

interface Step {
  readonly event: WorldEvent;
  readonly waitMs: number;
}

/** What is explored. Tests plant faults in it. */
export interface Explored {
  readonly advance: typeof advanceSwitchover;
  /** How the file of the intents is written. */
  readonly write: (written: WrittenIntents) => string;
}

const asItIs: Explored = { advance: advanceSwitchover, write: writtenIntents };

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
export interface ExploredStart {
  readonly name: string;
  readonly first: readonly WorldEvent[];
  readonly follow: readonly string[];
  /** Whether another process has begun the run, and holds both targets. */
  readonly isAdopted?: boolean;
}

export const exploredStarts: readonly ExploredStart[] = [
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

const lostArmed: readonly WorldEvent[] = armed.slice(1);
const look: WorldEvent = { kind: "look", target: 0, sight: "unserved" };
const lostHeld: readonly WorldEvent[] = [
  ...lostArmed,
  look,
  look,
  look,
  { kind: "pause_answered", target: 0 },
  { kind: "paused_read", target: 0, isPaused: true },
];
/** The same of a loss. */
export const exploredLosses: readonly ExploredStart[] = [
  { name: "the sign of a loss", first: [], follow: ["arming", "switching", "ended"] },
  { name: "the watch of the poolers", first: lostArmed, follow: ["switching", "ended"] },
  { name: "the third look", first: [...lostArmed, look, look], follow: ["switching", "ended"] },
  { name: "a hold", first: lostHeld, follow: ["routing", "resuming", "ended"] },
  {
    name: "a new primary while clients are held",
    first: [...lostHeld, { kind: "primary", node: "pg2", pending: "unknown" }],
    follow: ["resuming", "ended"],
  },
  {
    name: "the old primary while clients are held",
    first: [...lostHeld.slice(0, -1), { kind: "primary", node: "pg1", pending: "unknown" }],
    follow: ["resuming", "ended"],
  },
  { name: "the death of the process that holds", first: [], follow: ["routing", "resuming", "ended"], isAdopted: true },
  {
    name: "the death of the process before it held anybody",
    first: [{ kind: "not_held", target: 0 }],
    follow: ["routing", "resuming", "ended"],
    isAdopted: true,
  },
  {
    name: "the third look of the process that goes on with the run",
    first: [{ kind: "not_held", target: 0 }, look, look],
    follow: ["switching", "resuming", "ended"],
    isAdopted: true,
  },
];

/** What a start is explored with. @returns those that this plan has */
export function startsOf({ start }: SwitchoverPlan): readonly ExploredStart[] {
  if (start === "loss") return exploredLosses;
  if (start !== "restart") return exploredStarts;
  return exploredStarts.map((one) =>
    one.name === "a new primary"
      ? { ...one, name: "a restarted node", first: [...paused, { kind: "primary", node: "pg1", pending: "done" }] }
      : one,
  );
}

/** Every event, about every target, route and peer of a plan. */
export function everyEvent({ targets, routes, peers, leader, start }: SwitchoverPlan): readonly WorldEvent[] {
  const looks = targets.flatMap((_, target): readonly WorldEvent[] =>
    start !== "loss" ? [] : (["server", "idle", "unserved"] as const).map((sight) => ({ kind: "look", target, sight })),
  );
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
    ...(start === "loss" ? [{ kind: "not_held", target } as const] : []),
    { kind: "resumed", target },
    { kind: "not_resumed", target, problem: "late", isRefused: false },
    { kind: "not_resumed", target, problem: "refused", isRefused: true },
    { kind: "closed", target },
  ]);
  // After a loss nothing is asked for.
  const answers: readonly SwitchoverEvent[] =
    start === "loss"
      ? []
      : [
          { kind: "answered", result: { kind: "accepted" } },
          { kind: "answered", result: { kind: "refused", status: 412, reason: "no good candidates" } },
          { kind: "answered", result: { kind: "unknown", reason: "503" } },
        ];
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
    ...looks,
    ...(start === "restart" ? [{ kind: "primary", node: leader, pending: "done" } as const] : []),
    ...answers,
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
    { kind: "guardian_lost", why: "a standstill", hasTakenOver: true },
    { kind: "give_up", reason: "an operator has resumed everything" },
    { kind: "fenced", by: "peer1" },
    { kind: "stop", reason: "rolecall stops" },
  ];
}

/**
 * Applies every event in every state that can be reached, at once, in time, just when time is over, and far too late.
 * @param first the events that lead to the state to begin with
 * @param of the machine, and how files are written
 */
export function explore(
  plan: SwitchoverPlan,
  { first, isAdopted = false, depth }: Pick<ExploredStart, "first" | "isAdopted"> & { readonly depth: number },
  of: Explored = asItIs,
): Exploration {
  const events = everyEvent(plan);
  const begun = isAdopted ? adoptedStart(plan) : freshStart(plan);
  const unrestored = restorer(plan, of.write);
  const reach: Reach = (from, step) => reachWith(plan, { advance: of.advance, unrestored }, { from, step });
  const start = first.reduce<Reached>((from, event) => sound(reach(from, { event, waitMs: 0 })), begun);
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
          const reached = reach(from, { event, waitMs });
          if ("problem" in reached) return { states: seen.size, transitions, kinds, violation: reached };
          const key = keyOf(reached);
          if (seen.has(key)) continue;
          seen.add(key);
          const stuck =
            settling(plan, { from: reached, reach, of }, true) ?? settling(plan, { from: reached, reach, of }, false);
          if (stuck !== null)
            return { states: seen.size, transitions, kinds, violation: { problem: stuck, path: pathOf(reached.last) } };
          kinds.add(reached.state.kind);
          next.push(reached);
        }
    level = next;
  }
  return { states: seen.size, transitions, kinds, violation: null };
}

type Reach = (from: Reached, step: Step) => Reached | { readonly problem: string; readonly path: readonly string[] };

function freshStart(plan: SwitchoverPlan): Reached {
  return { state: beginSwitchover(plan, 0).state, world: untouchedWorld(plan), nowMs: 0, last: null };
}

/** Both targets were held 5 s ago by a process that is gone. */
function adoptedStart(plan: SwitchoverPlan): Reached {
  const limitAtMs = plan.limits.deadlineMs - 5_000;
  const all = plan.targets.map(() => true);
  const open = [...plan.targets.keys()];
  const adopted = { mayBeRequested: true, open, watched: open, deadlineMs: limitAtMs, why: "it is gone" };
  const { state } = adoptSwitchover(plan, adopted, 0);
  const untouched = untouchedWorld(plan);
  const world = {
    ...untouched,
    mayBePaused: all,
    isIntended: all,
    isIntentWritten: true,
    pausedAtMs: plan.targets.map(() => -5_000),
    limitAtMs,
    primary: null,
  };
  return { state, world, nowMs: 0, last: null };
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
function settling(
  plan: SwitchoverPlan,
  { from, reach, of }: { readonly from: Reached; readonly reach: Reach; readonly of: Explored },
  isAnswered: boolean,
): string | null {
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
    const transition = of.advance(plan, state, { event, nowMs: nowMs + waitMs });
    const next = reach(reached, { event, waitMs });
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

function reachWith(
  plan: SwitchoverPlan,
  { advance, unrestored }: Pick<Explored, "advance"> & { readonly unrestored: ReturnType<typeof restorer> },
  { from, step }: { readonly from: Reached; readonly step: Step },
): ReturnType<Reach> {
  const nowMs = from.nowMs + step.waitMs;
  const last = { from, step };
  const own = machineEventOf(from.world, step.event);
  const transition: SwitchoverTransition = advance(plan, from.state, { event: own, nowMs });
  if (
    (plan.start === "announced" || plan.start === "loss") &&
    transition.effects.some(({ kind }) => kind === "request")
  )
    return { problem: "requested what somebody else has begun", path: pathOf(last) };
  const after = worldAfterEffects(worldAfterEvent(from.world, step.event), transition, { plan, nowMs });
  if ("problem" in after) return { problem: after.problem, path: pathOf(last) };
  const problem = broken(transition.state, after.world, nowMs) ?? unrestored(after.world);
  if (problem !== null) return { problem, path: pathOf(last) };
  return { state: transition.state, world: after.world, nowMs, last };
}

/** What led to a state, from the start on. */
function pathOf(last: Reached["last"]): readonly string[] {
  const path: string[] = [];
  for (let at = last; at !== null; at = at.from.last) path.push(`+${at.step.waitMs} ${JSON.stringify(at.step.event)}`);
  return path.toReversed();
}

/** States that differ in the time of day only are the same. */
function keyOf({ state, world, nowMs }: Reached): string {
  return JSON.stringify([state, world], (name, value: unknown) => {
    if (name === "heardMs" || name === "pausedAtMs") return relative(value, nowMs);
    if (typeof value !== "number" || !name.endsWith("Ms")) return value;
    return value - nowMs;
  });
}

function relative(value: unknown, nowMs: number): unknown {
  return Array.isArray(value) ? value.map((each: unknown) => (each === null ? null : Number(each) - nowMs)) : value;
}
