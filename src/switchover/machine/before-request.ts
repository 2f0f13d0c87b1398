import {
  end,
  resumeAll,
  stay,
  step,
  pauseTargetName,
  withPhase,
  type Happened,
  type StateOf,
  type SwitchoverTransition,
} from "./transition.ts";
import type { SwitchoverEvent } from "./event.ts";
import type { SwitchoverPlan } from "./plan.ts";

/** Waits for the checks. */
export function advanceChecking(
  plan: SwitchoverPlan,
  state: StateOf<"checking">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "stop") return end({ kind: "refused", reason: event.reason });
  if (event.kind !== "checked") return stay(state);
  if (event.refusal !== null) return end({ kind: "refused", reason: event.refusal });
  if (plan.isDryRun) return end({ kind: "dry_run" }, step("checked"));
  const waitsFor = ["intent", "guardian", ...plan.peers];
  return stay({ kind: "arming", untilMs: nowMs + plan.limits.armMs, waitsFor }, step("checked"), { kind: "arm" });
}

/** Waits until whatever happens to this process, something else will resume what it pauses. */
export function advanceArming(
  plan: SwitchoverPlan,
  state: StateOf<"arming">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "armed") {
    const waitsFor = state.waitsFor.filter((part) => part !== event.part);
    return waitsFor.length > 0 ? stay({ ...state, waitsFor }) : pauseAll(plan, nowMs);
  }
  if (event.kind === "not_armed" && isOptional(plan, event.part))
    return advanceArming(plan, state, { event: { kind: "armed", part: event.part }, nowMs });
  const reason = event.kind === "not_armed" ? `${event.part}: ${event.problem}` : reasonToStop(plan, event);
  return reason === null ? stay(state) : end({ kind: "refused", reason }, { kind: "disarm" });
}

/** Whether clients are held without this safeguard: a database that stops does not wait for a peer. */
export function isOptional({ start, peers }: SwitchoverPlan, part: string): boolean {
  return start === "announced" && peers.includes(part);
}

/** Waits until every PAUSE is answered, and reads back that it holds. Whatever fails here resumes everything. */
export function advancePausing(
  plan: SwitchoverPlan,
  state: StateOf<"pausing">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "pause_answered") return onAnswer(state, event.target);
  if (event.kind === "paused_read" && event.isPaused) return onRead(plan, state, { target: event.target, nowMs });
  if (event.kind === "echo")
    return stay({ ...state, heardMs: state.heardMs.map((known, at) => (at === event.peer ? nowMs : known)) });
  const reason = pauseProblem(plan, event) ?? reasonToStop(plan, event);
  if (reason === null) return stay(state);
  const targets = event.kind === "pause_withheld" ? withPhase(state.targets, event.target, "withheld") : state.targets;
  return resumeAll(plan, { ...state, targets }, { outcome: { kind: "aborted", reason }, nowMs });
}

/** Why a switchover ends that was not requested yet; `null` if the event is no reason. A leader that was to stop may stop. */
function reasonToStop({ leader, start }: SwitchoverPlan, event: SwitchoverEvent): string | null {
  if (event.kind === "guardian_lost") return "the guardian process ended";
  if (event.kind === "fenced") return `${event.by} has taken over`;
  if (event.kind === "stop") return event.reason;
  if (event.kind !== "primary" || event.node === leader) return null;
  if (event.node !== null) return `${event.node} has become the primary`;
  return start === "announced" ? null : `${leader} is no longer a primary that takes writes`;
}

/** What keeps a pooler from holding its clients; `null` if the event is no such thing. */
function pauseProblem(plan: SwitchoverPlan, event: SwitchoverEvent): string | null {
  if (!("target" in event)) return null;
  const name = pauseTargetName(plan, event.target);
  if (event.kind === "pause_withheld") return `${name} cannot be paused: ${event.problem}`;
  if (event.kind === "pause_failed") return `PAUSE of ${name}: ${event.problem}`;
  if (event.kind === "paused_read" && !event.isPaused) return `${name} was resumed by somebody else`;
  if (event.kind === "console_lost") return `${name} closed the connection`;
  return event.kind === "restarted" ? `${name} was restarted` : null;
}

/** Sends every PAUSE. */
export function pauseAll({ targets, peers, limits }: SwitchoverPlan, nowMs: number): SwitchoverTransition {
  return {
    state: {
      kind: "pausing",
      targets: targets.map(() => "asked"),
      untilMs: nowMs + limits.pauseMs,
      deadlineMs: nowMs + limits.deadlineMs,
      ranAtMs: nowMs,
      heardMs: peers.map(() => nowMs),
    },
    effects: [step("armed"), ...targets.map((_, target) => ({ kind: "pause" as const, target }))],
  };
}

/** Once all have answered, all are read: the first may have been restarted while the last was waited for. */
function onAnswer(state: StateOf<"pausing">, target: number): SwitchoverTransition {
  if (state.targets[target] !== "asked") return stay(state);
  const targets = withPhase(state.targets, target, "paused");
  if (targets.some((phase) => phase !== "paused")) return stay({ ...state, targets });
  return stay({ ...state, targets }, ...targets.map((_, at) => ({ kind: "read_paused" as const, target: at })));
}

function onRead(
  plan: SwitchoverPlan,
  { deadlineMs, heardMs, ...state }: StateOf<"pausing">,
  { target, nowMs }: { readonly target: number; readonly nowMs: number },
): SwitchoverTransition {
  if (state.targets[target] !== "paused") return stay({ ...state, deadlineMs, heardMs });
  const targets = withPhase(state.targets, target, "confirmed");
  if (targets.some((phase) => phase !== "confirmed")) return stay({ ...state, targets, deadlineMs, heardMs });
  const held = { kind: "switching", targets, deadlineMs, ranAtMs: nowMs, heardMs } as const;
  const seen = { primary: plan.leader, quietSinceMs: null };
  return plan.start === "announced"
    ? stay({ ...held, ...seen, request: "announced" }, step("paused"))
    : stay({ ...held, ...seen, request: "sent" }, step("paused"), { kind: "request" }, step("requested"));
}
