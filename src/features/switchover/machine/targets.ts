import type { SwitchoverEffect } from "./effect.ts";
import type { SwitchoverEvent } from "./event.ts";
import { type SwitchoverPlan, routeName } from "./plan.ts";
import {
  isLed,
  type LedOutcome,
  type LeftTarget,
  type Outcome,
  type RouteState,
  type SettledOutcome,
  type TargetPhase,
} from "./state.ts";
import { pauseTargetName, withAt } from "./transition.ts";

/** How a run came out whose clients are led to a node: another primary, or the node that was restarted. */
export function ledOutcome({ start, leader }: SwitchoverPlan, node: string): LedOutcome {
  return { kind: start === "restart" && node === leader ? "restarted" : "switched", node };
}

/** Every route, before anything was led anywhere. */
export function changingRoutes({ routes }: SwitchoverPlan): readonly RouteState[] {
  return routes.map(() => ({ phase: "changing", problem: null }));
}

/** The routes after an event; `null` if it is about none. */
export function withRoute(routes: readonly RouteState[], event: SwitchoverEvent): readonly RouteState[] | null {
  if (event.kind === "routed") return withAt(routes, event.route, { phase: event.by, problem: null });
  if (event.kind !== "not_routed") return null;
  const known = routes[event.route];
  return known?.phase !== "changing" ? routes : withAt(routes, event.route, { ...known, problem: event.problem });
}

/** What comes of an event about a RESUME that was sent; `null` if it is no such event. */
export function afterTarget(
  targets: readonly TargetPhase[],
  problems: readonly (string | null)[],
  event: SwitchoverEvent,
): {
  readonly targets: readonly TargetPhase[];
  readonly problems: readonly (string | null)[];
  readonly effects: readonly SwitchoverEffect[];
} | null {
  if (event.kind !== "resumed" && event.kind !== "not_resumed" && event.kind !== "closed") return null;
  const { target } = event;
  const phase = targets[target];
  const isSent = phase === "resuming" || phase === "unreached";
  const none = { targets, problems, effects: [] };
  switch (event.kind) {
    case "resumed":
      if (!isSent) return none;
      return {
        targets: withAt(targets, target, "resumed"),
        problems: withAt(problems, target, null),
        effects: [{ kind: "close", target }],
      };
    case "not_resumed":
      if (!isSent) return none;
      return {
        targets: withAt(targets, target, event.isRefused ? "unreached" : "resuming"),
        problems: withAt(problems, target, event.problem),
        effects: [],
      };
    case "closed":
      return phase === "resumed" ? { ...none, targets: withAt(targets, target, "closed") } : none;
  }
}

/**
 * How a run came out, computed pooler by pooler from what was read back.
 * @param routes those to the new primary
 */
export function runOutcome(
  plan: SwitchoverPlan,
  outcome: SettledOutcome,
  {
    targets,
    problems,
    routes,
  }: {
    readonly targets: readonly TargetPhase[];
    readonly problems: readonly (string | null)[];
    readonly routes: readonly RouteState[];
  },
): Outcome {
  const left = targets.flatMap((phase, target): readonly LeftTarget[] => {
    const name = pauseTargetName(plan, target);
    if (phase !== "closed") return [{ target: name, state: "paused", problem: problems[target] ?? null }];
    if (!isLed(outcome)) return [];
    const own = plan.targets[target]?.routes ?? [];
    const unrouted = own.filter((at) => routes[at]?.phase === "changing");
    const [first] = unrouted;
    if (first === undefined) return [];
    return [{ target: name, state: "unrouted", problem: routeProblem(plan, first, routes[first]?.problem ?? null) }];
  });
  return left.length === 0 ? outcome : { kind: "unfinished", of: outcome, left };
}

/** What keeps a route from leading to the new primary, with the route's name where it is not that of the target. */
function routeProblem({ routes }: SwitchoverPlan, at: number, problem: string | null): string | null {
  const route = routes[at];
  if (route === undefined || route.database !== null || problem === null) return problem;
  return `${routeName(route)}: ${problem}`;
}
