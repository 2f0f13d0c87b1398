import {
  holdingOf,
  isToResume,
  resumeAll,
  stay,
  step,
  pauseTargetName,
  withAt,
  type Happened,
  type StateOf,
  type SwitchoverTransition,
} from "./transition.ts";
import { advanceLost } from "./after-loss.ts";
import type { SwitchoverEffect } from "./effect.ts";
import type { RequestResult, SwitchoverEvent } from "./event.ts";
import { actOf, type SwitchoverPlan } from "./plan.ts";
import { afterTarget, changingRoutes, ledOutcome, withRoute } from "./targets.ts";
import { type TargetPhase, withheldOutcome } from "./state.ts";

/**
 * Waits for a primary, not for the answer to the request: that comes seconds later. Only a refusal ends the wait at
 * once; after an error nobody knows what the cluster will do.
 */
export function advanceSwitching(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  happened: Happened,
): SwitchoverTransition {
  const { event, nowMs } = happened;
  const ofLoss = state.request === "lost" ? advanceLost(plan, state, happened) : null;
  if (ofLoss !== null) return ofLoss;
  if (event.kind === "answered") return onResult(plan, state, { result: event.result, nowMs });
  if (event.kind === "primary") return onPrimary(plan, state, { event, nowMs });
  if (event.kind === "give_up")
    return resumeAll(plan, state, { outcome: { kind: "unknown", reason: event.reason }, nowMs });
  return whileHeld(plan, state, event);
}

/** Waits until every route leads to the new primary. What does is resumed at once: no pooler waits for another one. */
export function advanceRouting(
  plan: SwitchoverPlan,
  state: StateOf<"routing">,
  happened: Happened,
): SwitchoverTransition {
  const { event, nowMs } = happened;
  const routes = withRoute(state.routes, event);
  if (routes !== null) return releaseRouted(plan, { ...state, routes }, nowMs);
  if (event.kind === "primary" && event.node !== null && event.node !== state.node)
    return leadTo(plan, state, { node: event.node, nowMs });
  if (event.kind === "give_up") return resumeAll(plan, state, { outcome: ledOutcome(plan, state.node), nowMs });
  const ofTarget = afterTarget(state.targets, state.problems, event);
  if (ofTarget !== null) {
    const { effects, ...changed } = ofTarget;
    const { state: next, effects: more } = releaseRouted(plan, { ...state, ...changed }, nowMs);
    return stay(next, ...effects, ...more);
  }
  const held = whileHeld(plan, state, event);
  if (held.state.kind !== "routing") return held;
  const released = releaseRouted(plan, held.state, nowMs);
  return stay(released.state, ...held.effects, ...released.effects);
}

/** Clients are held, and the switchover may have been requested. */
type HeldState = StateOf<"switching" | "routing">;

/** What happens to poolers and to this process while clients are held: clients are resumed in time whatever it is. */
function whileHeld(plan: SwitchoverPlan, state: HeldState, event: SwitchoverEvent): SwitchoverTransition {
  if (event.kind === "guardian_lost")
    return stay(
      event.hasTakenOver ? withoutRequest(state) : state,
      step(
        "note",
        event.hasTakenOver ? `the guardian process has taken over: ${event.why}` : "the guardian process ended",
      ),
    );
  if (event.kind === "fenced")
    return stay(withoutRequest(state), step("note", `${event.by} has taken over, and finishes it too`));
  if (event.kind === "stop") return stay(state, step("note", `${event.reason}: the ${actOf(plan)} is finished first`));
  if (!("target" in event)) return stay(state);
  const { target } = event;
  const name = pauseTargetName(plan, target);
  const phase = state.targets[target];
  const withPhase = (next: TargetPhase, problem: string | null): HeldState => ({
    ...state,
    targets: withAt(state.targets, target, next),
    problems: withAt(state.problems, target, problem),
  });
  switch (event.kind) {
    case "console_lost":
      return stay(state, step("note", `${name} closed the connection`));
    case "resumed_elsewhere":
      return stay(state, step("note", `${name} was resumed by somebody else: its clients are not held any more`));
    case "console_refused":
      if (phase !== "confirmed") return stay(state);
      return stay(withPhase("absent", event.problem), step("note", `${name}: ${event.problem}; nobody waits for it`));
    case "console_back":
      return stay(phase === "absent" ? withPhase("confirmed", null) : state);
    case "restarted": {
      const text = `${name} was restarted: its clients were not held, and may have had errors`;
      // It has loaded the route that its file had then.
      return phase === "absent" || phase === "confirmed"
        ? stay(againRouted(plan, withPhase("confirmed", null), target), step("note", text), ...routeAgain(state))
        : stay(state, step("note", text));
    }
    case "closed":
    case "let_go":
    case "not_resumed":
    case "unserved":
    case "not_held":
    case "pause_answered":
    case "pause_failed":
    case "pause_withheld":
    case "paused_read":
    case "resumed":
      return stay(state);
  }
}

/**
 * The state in which a request that was not sent yet is not sent any more: this process stood still, or is taken over.
 * Whether it was sent is not known here.
 */
export function withoutRequest<State extends HeldState>(state: State): State {
  return state.kind === "switching" && state.request === "sent" ? { ...state, request: "unknown" } : state;
}

/** The state with the routes of one target changing anew. */
function againRouted(plan: SwitchoverPlan, state: HeldState, target: number): HeldState {
  if (state.kind !== "routing") return state;
  const own = plan.targets[target]?.routes ?? [];
  const routes = state.routes.map((known, at) => (own.includes(at) ? { ...known, phase: "changing" as const } : known));
  return { ...state, routes };
}

function routeAgain(state: HeldState): readonly SwitchoverEffect[] {
  return state.kind === "routing" ? [{ kind: "route", node: state.node }] : [];
}

function onResult(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { result, nowMs }: { readonly result: RequestResult; readonly nowMs: number },
): SwitchoverTransition {
  if (result.kind === "accepted") return stay({ ...state, request: "accepted" }, step("accepted"));
  if (result.kind === "unknown") return stay({ ...state, request: "unknown" }, step("note", result.reason));
  if (result.kind === "withheld") return resumeAll(plan, state, { outcome: withheldOutcome, nowMs });
  const { status, reason } = result;
  return resumeAll(plan, state, { outcome: { kind: "rejected", status, reason }, nowMs });
}

function onPrimary(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { event, nowMs }: { readonly event: Extract<SwitchoverEvent, { readonly kind: "primary" }>; readonly nowMs: number },
): SwitchoverTransition {
  const { node, pending } = event;
  if (node !== null && node !== plan.leader) return leadTo(plan, state, { node, nowMs });
  if (plan.start === "restart" && node === plan.leader && pending === "done")
    return leadTo(plan, state, { node, nowMs });
  const isBack = node === plan.leader && state.primary === null;
  if (plan.start === "announced" && isBack)
    return resumeAll(plan, state, { outcome: { kind: "stayed", reason: `${node} leads again` }, nowMs });
  const isQuiet = node === plan.leader && (pending === "no" || plan.start === "announced");
  return stay({ ...state, primary: node, quietSinceMs: isQuiet ? (state.quietSinceMs ?? nowMs) : null });
}

function leadTo(
  plan: SwitchoverPlan,
  from: HeldState,
  { node, nowMs }: { readonly node: string; readonly nowMs: number },
): SwitchoverTransition {
  const repeatAtMs = from.kind === "routing" ? from.repeatAtMs : nowMs + plan.limits.resumeMs;
  const state = {
    kind: "routing",
    ...holdingOf(from),
    ranAtMs: nowMs,
    node,
    routes: changingRoutes(plan),
    repeatAtMs,
  } as const;
  const { state: next, effects } = releaseRouted(plan, state, nowMs);
  const isAgain = ledOutcome(plan, node).kind === "restarted";
  return stay(next, step(isAgain ? "restarted" : "writable", node), { kind: "route", node }, ...effects);
}

/**
 * Resumes each target whose own routes lead to the new primary. After a loss a PAUSE may be under way, which is not waited
 * for: but its RESUME must not come before the route.
 */
function releaseRouted(plan: SwitchoverPlan, state: StateOf<"routing">, nowMs: number): SwitchoverTransition {
  const isRouted = (target: number): boolean =>
    (plan.targets[target]?.routes ?? []).every((route) => state.routes[route]?.phase !== "changing");
  const targets = state.targets.map((phase, target): TargetPhase =>
    isToResume(phase) && isRouted(target) ? "resuming" : phase,
  );
  const effects = targets.flatMap((phase, target): readonly SwitchoverEffect[] =>
    phase === state.targets[target] ? [] : [{ kind: "resume", target }],
  );
  if (targets.some(isToResume)) return stay({ ...state, targets }, ...effects);
  const areAllRouted = state.routes.every(({ phase }) => phase !== "changing");
  const outcome = ledOutcome(plan, state.node);
  const { state: next, effects: more } = resumeAll(plan, { ...state, targets }, { outcome, nowMs });
  return stay(next, ...effects, ...(areAllRouted ? [step("routed")] : []), step("resuming"), ...more);
}
