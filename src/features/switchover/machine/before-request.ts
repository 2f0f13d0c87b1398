import {
  end,
  resumeAll,
  stay,
  step,
  pauseTargetName,
  withAt,
  type Happened,
  type HoldingState,
  type StateOf,
  type SwitchoverTransition,
} from "./transition.ts";
import { watchAll } from "./after-loss.ts";
import type { SwitchoverEvent } from "./event.ts";
import { isAsked, type SwitchoverPlan } from "./plan.ts";

/** Waits for the checks. */
export function advanceChecking(
  plan: SwitchoverPlan,
  state: StateOf<"checking">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "stop" || event.kind === "give_up") return end({ kind: "refused", reason: event.reason });
  if (event.kind !== "checked") return stay(state);
  if (event.refusal !== null) return end({ kind: "refused", reason: event.refusal });
  if (plan.isDryRun) return end({ kind: "dry_run" }, step("checked"));
  return stay({ kind: "claiming", untilMs: nowMs + plan.limits.claimMs }, step("checked"), { kind: "claim" });
}

/** Waits until nobody else runs a switchover of this cluster, or will while this run lasts. */
export function advanceClaiming(
  plan: SwitchoverPlan,
  state: StateOf<"claiming">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  const reason = event.kind === "claimed" ? event.refusal : reasonToStop(plan, event);
  if (reason !== null) return end({ kind: "refused", reason });
  if (event.kind !== "claimed") return stay(state);
  // After a loss nobody is waited for who may be lost with the primary: peers hear of it meanwhile.
  const waitsFor = safeguardsOf(plan).filter((part) => plan.start !== "loss" || !isOptional(plan, part));
  return stay({ kind: "arming", untilMs: nowMs + plan.limits.armMs, waitsFor }, { kind: "arm" });
}

/** Waits until whatever happens to this process, something else will finish what it begins. */
export function advanceArming(
  plan: SwitchoverPlan,
  state: StateOf<"arming">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "armed") {
    const waitsFor = state.waitsFor.filter((part) => part !== event.part);
    return waitsFor.length > 0 ? stay({ ...state, waitsFor }) : holdAll(plan, nowMs);
  }
  if (event.kind === "not_armed" && isOptional(plan, event.part))
    return advanceArming(plan, state, { event: { kind: "armed", part: event.part }, nowMs });
  const reason = event.kind === "not_armed" ? `${event.part}: ${event.problem}` : reasonToStop(plan, event);
  return reason === null ? stay(state) : end({ kind: "refused", reason }, { kind: "disarm" });
}

/** Whether clients are held without this safeguard: a database that stops does not wait for a peer. */
export function isOptional({ start, peers }: SwitchoverPlan, part: string): boolean {
  return !isAsked(start) && peers.includes(part);
}

/** Waits until every PAUSE is answered, and reads back that it holds. Whatever fails here resumes everything. */
export function advancePausing(
  plan: SwitchoverPlan,
  state: StateOf<"pausing">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "pause_answered") return onAnswer(state, event.target);
  if (event.kind === "paused_read" && event.isPaused) return onRead(plan, state, { target: event.target, nowMs });
  return beforeRequest(plan, state, { event, nowMs });
}

/**
 * Waits until whoever would finish the run knows that the switchover is requested next: before that, all resume at once
 * if this process dies; after it, they lead the clients to the new primary first.
 */
export function advanceTelling(
  plan: SwitchoverPlan,
  state: StateOf<"telling">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind !== "told") return beforeRequest(plan, state, { event, nowMs });
  if (event.problem !== null) {
    const reason = `${event.part}: ${event.problem}`;
    return resumeAll(plan, state, { outcome: { kind: "aborted", reason }, nowMs });
  }
  const { untilMs: _, waitsFor, kind: __, ...held } = state;
  const left = waitsFor.filter((part) => part !== event.part);
  if (left.length > 0) return stay({ ...state, waitsFor: left });
  const requested = {
    primary: plan.leader,
    quietSinceMs: null,
    lookUntilMs: null,
    guard: null,
    repeatAtMs: Infinity,
    request: "sent",
  } as const;
  return stay({ ...held, kind: "switching", ...requested }, { kind: "request" }, step("requested"));
}

/** Sends every PAUSE; after a loss each waits until its pooler refuses clients. */
export function holdAll(plan: SwitchoverPlan, nowMs: number): SwitchoverTransition {
  const { start, targets, peers, limits } = plan;
  if (start === "loss") return watchAll(plan, nowMs);
  return {
    state: {
      kind: "pausing",
      targets: targets.map(() => "asked"),
      problems: targets.map(() => null),
      untilMs: nowMs + limits.pauseMs,
      deadlineMs: nowMs + limits.deadlineMs,
      ranAtMs: nowMs,
      heardMs: peers.map(() => nowMs),
    },
    effects: [step("armed"), ...targets.map((_, target) => ({ kind: "pause" as const, target }))],
  };
}

/** What happens while nothing was requested: whatever is not as it should be resumes everything. */
function beforeRequest(
  plan: SwitchoverPlan,
  state: StateOf<"pausing" | "telling">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "echo") return stay({ ...state, heardMs: withAt(state.heardMs, event.peer, nowMs) });
  const reason = pauseProblem(plan, event) ?? reasonToStop(plan, event);
  if (reason === null) return stay(state);
  const withheld: HoldingState =
    event.kind === "pause_withheld" ? { ...state, targets: withAt(state.targets, event.target, "withheld") } : state;
  return resumeAll(plan, withheld, { outcome: { kind: "aborted", reason }, nowMs });
}

/** Why a switchover ends that was not requested yet; `null` if the event is no reason. A leader that was to stop may stop. */
function reasonToStop({ leader, start, restart }: SwitchoverPlan, event: SwitchoverEvent): string | null {
  if (event.kind === "guardian_lost")
    return event.hasTakenOver ? `the guardian process has taken over (${event.why})` : `the guardian process ended`;
  if (event.kind === "fenced") return `${event.by} has taken over`;
  if (event.kind === "stop" || event.kind === "give_up") return event.reason;
  if (event.kind !== "primary" || event.node === leader) return null;
  if (event.node !== null) return `${event.node} has become the primary`;
  if (restart?.isLeader === false) return `${leader} does not run any more`;
  return isAsked(start) ? `${leader} is no longer a primary that takes writes` : null;
}

/** What keeps a pooler from holding its clients; `null` if the event is no such thing. */
function pauseProblem(plan: SwitchoverPlan, event: SwitchoverEvent): string | null {
  if (!("target" in event)) return null;
  const name = pauseTargetName(plan, event.target);
  if (event.kind === "pause_withheld") return `${name} cannot be paused: ${event.problem}`;
  if (event.kind === "pause_failed") return `PAUSE of ${name}: ${event.problem}`;
  if (event.kind === "paused_read" && !event.isPaused) return `${name} was resumed by somebody else`;
  if (event.kind === "resumed_elsewhere") return `${name} was resumed by somebody else`;
  if (event.kind === "console_lost") return `${name} closed the connection`;
  if (event.kind === "console_refused") return `${name}: ${event.problem}`;
  return event.kind === "restarted" ? `${name} was restarted` : null;
}

/** Once all have answered, all are read: the first may have been restarted while the last was waited for. */
function onAnswer(state: StateOf<"pausing">, target: number): SwitchoverTransition {
  if (state.targets[target] !== "asked") return stay(state);
  const targets = withAt(state.targets, target, "paused");
  if (targets.some((phase) => phase !== "paused")) return stay({ ...state, targets });
  return stay({ ...state, targets }, ...targets.map((_, at) => ({ kind: "read_paused" as const, target: at })));
}

function onRead(
  plan: SwitchoverPlan,
  state: StateOf<"pausing">,
  { target, nowMs }: { readonly target: number; readonly nowMs: number },
): SwitchoverTransition {
  if (state.targets[target] !== "paused") return stay(state);
  const targets = withAt(state.targets, target, "confirmed");
  if (targets.some((phase) => phase !== "confirmed")) return stay({ ...state, targets });
  const { untilMs: _, kind: __, ...before } = state;
  const held = { ...before, targets, ranAtMs: nowMs };
  if (plan.start === "announced")
    return stay(
      {
        ...held,
        kind: "switching",
        primary: plan.leader,
        quietSinceMs: null,
        lookUntilMs: null,
        guard: null,
        repeatAtMs: Infinity,
        request: "announced",
      },
      step("paused"),
    );
  const untilMs = nowMs + plan.limits.tellMs;
  return stay({ ...held, kind: "telling", untilMs, waitsFor: safeguardsOf(plan) }, step("paused"), { kind: "tell" });
}

function safeguardsOf({ peers }: SwitchoverPlan): readonly string[] {
  return ["intent", "guardian", ...peers];
}
