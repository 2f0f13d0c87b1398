import {
  resumeAll,
  stay,
  step,
  pauseTargetName,
  type Happened,
  type StateOf,
  type SwitchoverTransition,
} from "./transition.ts";
import type { RequestResult, SwitchoverEvent } from "./event.ts";
import type { SwitchoverPlan } from "./plan.ts";
import type { RoutePhase } from "./state.ts";

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
  if (event.kind === "answered") return onResult(plan, state, { result: event.result, nowMs });
  if (event.kind === "primary") return onPrimary(plan, state, { event, nowMs });
  if (event.kind !== "fenced") return whileHeld(plan, state, event);
  const outcome = { kind: "unknown", reason: `${event.by} has taken over, and resumes everything` } as const;
  return resumeAll(plan, state, { outcome, nowMs });
}

/** Waits until every route leads to the new primary. */
export function advanceRouting(
  plan: SwitchoverPlan,
  state: StateOf<"routing">,
  { event, nowMs }: Happened,
): SwitchoverTransition {
  if (event.kind === "routed") {
    const routes = state.routes.map((known, at) => (at === event.route ? event.by : known));
    return afterRoutes(plan, { ...state, routes }, nowMs);
  }
  if (event.kind === "primary" && event.node !== null && event.node !== state.node)
    return route(plan, state, { node: event.node, nowMs });
  if (event.kind === "fenced")
    return resumeAll(plan, state, { outcome: { kind: "switched", node: state.node }, nowMs });
  return whileHeld(plan, state, event);
}

/** What happens to poolers and to this process while clients are held changes nothing: clients are resumed in time. */
function whileHeld(
  plan: SwitchoverPlan,
  state: StateOf<"switching" | "routing">,
  event: SwitchoverEvent,
): SwitchoverTransition {
  const name = "target" in event ? pauseTargetName(plan, event.target) : "";
  if (event.kind === "console_lost") return stay(state, step("note", `${name} closed the connection`));
  if (event.kind === "guardian_lost") return stay(state, step("note", "the guardian process ended"));
  if (event.kind === "stop") return stay(state, step("note", `${event.reason}: the switchover is finished first`));
  if (event.kind !== "restarted") return stay(state);
  const text = `${name} was restarted: its clients were not held, and may have had errors`;
  const again = state.kind === "routing" ? [{ kind: "route", node: state.node } as const] : [];
  return stay(state, step("note", text), ...again);
}

function onResult(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { result, nowMs }: { readonly result: RequestResult; readonly nowMs: number },
): SwitchoverTransition {
  if (result.kind === "accepted") return stay({ ...state, request: "accepted" }, step("accepted"));
  if (result.kind === "unknown") return stay({ ...state, request: "unknown" }, step("note", result.reason));
  const { status, reason } = result;
  return resumeAll(plan, state, { outcome: { kind: "rejected", status, reason }, nowMs });
}

function onPrimary(
  plan: SwitchoverPlan,
  state: StateOf<"switching">,
  { event, nowMs }: { readonly event: Extract<SwitchoverEvent, { readonly kind: "primary" }>; readonly nowMs: number },
): SwitchoverTransition {
  const { node, pending } = event;
  if (node !== null && node !== plan.leader) return route(plan, state, { node, nowMs });
  const isBack = node === plan.leader && state.primary === null;
  if (plan.start === "announced" && isBack)
    return resumeAll(plan, state, { outcome: { kind: "stayed", reason: `${node} leads again` }, nowMs });
  const isQuiet = node === plan.leader && (pending === "no" || plan.start === "announced");
  return stay({ ...state, primary: node, quietSinceMs: isQuiet ? (state.quietSinceMs ?? nowMs) : null });
}

function route(
  plan: SwitchoverPlan,
  { targets, deadlineMs, heardMs }: StateOf<"switching" | "routing">,
  { node, nowMs }: { readonly node: string; readonly nowMs: number },
): SwitchoverTransition {
  const routes = plan.routes.map((): RoutePhase => "changing");
  const state = { kind: "routing", targets, deadlineMs, ranAtMs: nowMs, heardMs, node, routes } as const;
  const { state: next, effects } = afterRoutes(plan, state, nowMs);
  return stay(next, step("writable", node), { kind: "route", node }, ...effects);
}

function afterRoutes(plan: SwitchoverPlan, state: StateOf<"routing">, nowMs: number): SwitchoverTransition {
  if (state.routes.includes("changing")) return stay(state);
  const { state: next, effects } = resumeAll(plan, state, { outcome: { kind: "switched", node: state.node }, nowMs });
  return stay(next, step("routed"), ...effects);
}
