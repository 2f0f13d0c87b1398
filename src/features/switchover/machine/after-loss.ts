import { end, resumeAll, stay, step, pauseTargetName, withAt, type Happened, type StateOf } from "./transition.ts";
import type { SwitchoverTransition } from "./transition.ts";
import type { SwitchoverEffect } from "./effect.ts";
import type { SwitchoverEvent } from "./event.ts";
import type { SwitchoverPlan } from "./plan.ts";
import type { SettledOutcome, TargetPhase } from "./state.ts";
import { afterTarget } from "./targets.ts";

/** Begins to wait for what a loss does to the poolers: nothing is paused yet, and each is once its clients are refused. */
export function watchAll({ targets, peers, limits }: SwitchoverPlan, nowMs: number): SwitchoverTransition {
  return stay(
    {
      kind: "switching",
      targets: targets.map(() => "watched"),
      problems: targets.map(() => null),
      deadlineMs: nowMs + limits.deadlineMs,
      ranAtMs: nowMs,
      heardMs: peers.map(() => nowMs),
      request: "lost",
      primary: null,
      quietSinceMs: null,
      lookUntilMs: nowMs + limits.lookMs,
      guard: "first",
      repeatAtMs: nowMs + limits.resumeMs,
    },
    step("armed"),
  );
}

/**
 * Holds the clients of each pooler that would refuse them, until a primary is accepted. No pooler waits for another one, and
 * what somebody else lets go on goes on.
 * @returns `null` if the event is none that a loss has a rule of its own for
 */
export function advanceLost(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { event, nowMs }: Happened,
): SwitchoverTransition | null {
  if (event.kind === "primary") return onPrimary(plan, state, { node: event.node, nowMs });
  if (event.kind === "give_up")
    return resumeAll(plan, state, { outcome: { kind: "stayed", reason: event.reason }, nowMs });
  if (event.kind === "stop" && !hasBegun(state)) return endOfLook(plan, state, { reason: event.reason, nowMs });
  if (event.kind === "fenced" || (event.kind === "guardian_lost" && event.hasTakenOver))
    return withoutMore(plan, state, { why: takenText(event), nowMs });
  const ofGuardian = afterGuardian(plan, state, { event, nowMs });
  if (ofGuardian !== null) return ofGuardian;
  const ofTarget = afterTarget(state.targets, state.problems, event);
  if (ofTarget !== null) {
    const { effects, ...changed } = ofTarget;
    return settled(plan, { ...state, ...changed }, { effects, nowMs });
  }
  const next = "target" in event ? targetAfter(plan, state.targets[event.target], event) : null;
  if (next === null || !("target" in event)) return null;
  const { phase, problem = null, effects } = next;
  const changed = {
    ...state,
    // An answer of the leader from before this refusal may be older than a second loss.
    primary: event.kind === "unserved" ? null : state.primary,
    targets: withAt(state.targets, event.target, phase),
    problems: withAt(state.problems, event.target, problem),
  };
  return settled(plan, changed, { effects, nowMs });
}

/** The end of the look at poolers. @returns `null` while the run goes on */
export function onTimeOfLook(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  nowMs: number,
): SwitchoverTransition | null {
  if (state.lookUntilMs === null || nowMs < state.lookUntilMs) return null;
  const isAdopted = state.targets.includes("unheld");
  if (!hasBegun(state) && !isAdopted) {
    const reason = `no pooler refused clients within ${plan.limits.lookMs / 1_000} s`;
    return endOfLook(plan, state, { reason, nowMs });
  }
  const isOver = state.primary !== null && !state.targets.some(isHeld);
  return isOver ? resumeAll(plan, state, { outcome: backOutcome(state.primary), nowMs }) : null;
}

/** The end of a run that has paused nothing. What another process may have paused is resumed. */
function endOfLook(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { reason, nowMs }: { readonly reason: string; readonly nowMs: number },
): SwitchoverTransition {
  const outcome = { kind: "refused", reason } as const;
  return state.targets.includes("unheld")
    ? resumeAll(plan, state, { outcome, nowMs })
    : end(outcome, { kind: "disarm" });
}

/** Whether something was paused, or may have been. */
function hasBegun({ targets }: StateOf<"switching">): boolean {
  return targets.some((phase) => !isWatched(phase));
}

/** Whether clients of a pooler are held once it refuses them. */
export function isWatched(phase: TargetPhase | undefined): boolean {
  return phase === "watched" || phase === "unheld";
}

/** Whether clients of a pooler wait for a primary. */
function isHeld(phase: TargetPhase | undefined): boolean {
  return phase === "asked" || phase === "paused" || phase === "confirmed" || phase === "absent";
}

function backOutcome(node: string): SettledOutcome {
  return { kind: "stayed", reason: `${node} leads again` };
}

/** A primary that is proven to serve after the loss. */
function onPrimary(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { node, nowMs }: { readonly node: string | null; readonly nowMs: number },
): SwitchoverTransition | null {
  if (node === null) return stay({ ...state, primary: null });
  // A run that another process has begun leads its clients there.
  const isFollowed = hasBegun(state) || state.targets.includes("unheld");
  if (node !== plan.leader)
    return isFollowed ? null : endOfLook(plan, state, { reason: `${node} is the primary`, nowMs });
  // Also after it is back, a pool without a server refuses its clients for `server_login_retry`: each is held first, and then
  // let go with a lower one.
  return settled(plan, { ...state, primary: node }, { effects: [], nowMs });
}

/** What happens to one pooler. @returns `null` if the event changes nothing of it */
function targetAfter(
  plan: SwitchoverPlan,
  phase: TargetPhase | undefined,
  event: Extract<SwitchoverEvent, { readonly target: number }>,
): {
  readonly phase: TargetPhase;
  readonly problem?: string;
  readonly effects: readonly SwitchoverEffect[];
} | null {
  const { target } = event;
  const name = pauseTargetName(plan, target);
  const resumed = (text: string): ReturnType<typeof targetAfter> =>
    isHeld(phase) ? { phase: "resuming", effects: [step("note", text), { kind: "resume", target }] } : null;
  switch (event.kind) {
    case "unserved":
      return isWatched(phase) ? { phase: "asked", effects: [{ kind: "pause", target }] } : null;
    case "not_held":
      return phase === "confirmed" ? { phase: "unheld", effects: [] } : null;
    case "pause_answered":
      return phase === "asked" ? { phase: "paused", effects: [{ kind: "read_paused", target }] } : null;
    case "pause_withheld":
      // Nothing was sent.
      return phase === "asked"
        ? {
            phase: "resumed",
            problem: event.problem,
            effects: [step("note", `${name} is not held: ${event.problem}`), { kind: "close", target }],
          }
        : null;
    case "pause_failed":
      return resumed(`PAUSE of ${name}: ${event.problem}`);
    case "paused_read":
      if (!event.isPaused) return resumed(`${name} was resumed by somebody else`);
      return phase === "paused" ? { phase: "confirmed", effects: [step("paused", name)] } : null;
    case "resumed_elsewhere":
      return resumed(`${name} was resumed by somebody else`);
    case "restarted":
      return resumed(`${name} was restarted: its clients are not held any more`);
    case "console_lost":
    case "console_refused":
    case "console_back":
    case "resumed":
    case "not_resumed":
    case "closed":
    case "let_go":
      return null;
  }
}

function takenText(event: Extract<SwitchoverEvent, { readonly kind: "guardian_lost" | "fenced" }>): string {
  return `${event.kind === "fenced" ? event.by : "the guardian process"} has taken over, and finishes it too`;
}

/**
 * The guardian that ends by itself is replaced, once: others may still refuse their clients, and nobody is held without one.
 * @returns `null` if the event changes nothing of it
 */
function afterGuardian(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { event, nowMs }: Happened,
): SwitchoverTransition | null {
  const why = "the guardian process ended";
  if (state.guard !== "replacing") {
    if (event.kind !== "guardian_lost") return null;
    if (state.guard !== "first") return withoutMore(plan, state, { why, nowMs });
    return stay({ ...state, guard: "replacing" }, step("note", `${why}: another one is started`), { kind: "guard" });
  }
  if (event.kind === "armed" && event.part === "guardian")
    return stay({ ...state, guard: "second" }, step("note", "another guardian process is ready"));
  if (event.kind === "not_armed" && event.part === "guardian")
    return withoutMore(plan, { ...state, guard: "second" }, { why: `no guardian process: ${event.problem}`, nowMs });
  // After `guardian_lost` comes `not_armed`. A pooler is looked at again, and paused once the guardian is ready.
  return event.kind === "guardian_lost" || event.kind === "unserved" ? stay(state) : null;
}

/** Who is taken over, or has no guardian any more, holds no more clients than before. */
function withoutMore(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { why, nowMs }: { readonly why: string; readonly nowMs: number },
): SwitchoverTransition {
  if (!hasBegun(state)) return endOfLook(plan, state, { reason: why, nowMs });
  const targets = state.targets.map((phase): TargetPhase => {
    if (phase === "watched") return "resumed";
    // Its RESUME follows as if it were held.
    return phase === "unheld" ? "confirmed" : phase;
  });
  const closed = targets.flatMap((phase, target): readonly SwitchoverEffect[] =>
    phase === "resumed" && state.targets[target] === "watched" ? [{ kind: "close", target }] : [],
  );
  return settled(plan, { ...state, targets }, { effects: [step("note", why), ...closed], nowMs });
}

/** Lets those go on that are held where the leader is back, and ends the wait once no pooler holds its clients any more. */
function settled(
  plan: SwitchoverPlan,
  before: StateOf<"switching">,
  { effects, nowMs }: { readonly effects: readonly SwitchoverEffect[]; readonly nowMs: number },
): SwitchoverTransition {
  const { primary } = before;
  const goesOn = (phase: TargetPhase | undefined): boolean => primary !== null && phase === "confirmed";
  const resumes = before.targets.flatMap((phase, target): readonly SwitchoverEffect[] =>
    goesOn(phase) ? [{ kind: "resume", target }] : [],
  );
  const back = resumes.length === 0 ? [] : [step("resuming", `${primary} leads again`), ...resumes];
  const targets = before.targets.map((phase): TargetPhase => (goesOn(phase) ? "resuming" : phase));
  const state = { ...before, targets };
  const all = [...effects, ...back];
  if (!hasBegun(state) || targets.some(isHeld)) return stay(state, ...all);
  // Another pooler may still begin to refuse clients.
  const isInTime = nowMs < (state.lookUntilMs ?? -Infinity);
  if (primary !== null && isInTime && targets.some(isWatched)) return stay(state, ...all);
  // Nobody else looks at what another process has left.
  if (primary === null && targets.includes("unheld")) return stay(state, ...all);
  const next = resumeAll(plan, state, { outcome: lostOutcome(state), nowMs });
  return stay(next.state, ...all, ...next.effects);
}

/** How a hold came out that ends before its limit, and without a new primary. */
function lostOutcome({ primary, problems }: StateOf<"switching">): SettledOutcome {
  if (primary !== null) return backOutcome(primary);
  const problem = problems.find((text) => text !== null) ?? null;
  return problem === null
    ? { kind: "stayed", reason: "somebody else has resumed them" }
    : { kind: "aborted", reason: problem };
}
