import type { Observation } from "../../cluster/observation.ts";
import type { Check } from "../check.ts";
import { holdsLock, lockUntilMs } from "./lock.ts";
import type { Route } from "../route.ts";
import { activeDrainOf } from "../evidence/active-drain.ts";
import { graceOn } from "../evidence/api-outage-grace.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import { unfit, validUntil, type Verdict } from "../verdict.ts";

/** Routes that a replica never serves. A drain refuses all others. */
const undrainedRoutes: ReadonlySet<Route> = new Set(["primary", "standby-leader", "leader", "health", "liveness"]);

/**
 * Refuses a node that an operator drained (reason `drained`, a soft no). A drain never makes another no milder: hard
 * reasons stay. It replaces a lag that is too great, or `keep=` would bring the node back in. Liveness is never
 * drained, since its no kills processes; nor is the holder of the lock unless the drain says `all`, nor a primary that
 * the guard `survive` keeps.
 */
export function withDrain(
  verdict: Verdict,
  view: ClusterView,
  { observation, check }: { readonly observation: Observation; readonly check: Check },
): Verdict {
  const drain = activeDrainOf(view.cluster, observation.node.name, view.nowMs);
  if (drain === null || (!verdict.fit && verdict.reason !== "lagging")) return verdict;
  const untilMs = Math.min(verdict.validUntilMs, drain.untilMs);
  if (drain.extent === "all") return validUntil(unfit("drained", drain.reason), untilMs);
  if (undrainedRoutes.has(check.route)) return verdict;
  const grace = graceOn(view, observation, check.route);
  const isExempt = holdsLock(view, observation) || grace.isGranted;
  const decided = isExempt ? verdict : unfit("drained", drain.reason);
  return validUntil(decided, Math.min(untilMs, lockUntilMs(view, observation), grace.validUntilMs));
}
