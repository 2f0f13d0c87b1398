import type { Check } from "../check.ts";
import { holdsLock } from "./lock.ts";
import type { Route } from "../route.ts";
import { drainOf } from "../evidence/active-drain.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";
import { unfit, type Verdict } from "../verdict.ts";

/** Routes that ask for no replica: all others do, wholly or where the node is not the leader, and a drain answers them. */
const undrainedRoutes: ReadonlySet<Route> = new Set(["primary", "standby-leader", "leader", "health", "liveness"]);

/**
 * Takes the yes away from a node that an operator drained (reason `drained`, a soft no). A drain never makes another no
 * milder: hard reasons stay. A lag that is too great gives way to it, or `keep=` would bring the node back in.
 * Liveness is never drained, for its no kills processes; nor is the holder of the lock unless the drain says `all`.
 */
export function withDrain(
  verdict: Verdict,
  view: ClusterView,
  asked: { readonly node: string; readonly claims: boolean; readonly check: Check },
): Verdict {
  const drain = drainOf(view.cluster, asked.node, view.nowMs);
  if (drain === null || (!verdict.fit && verdict.reason !== "lagging")) return verdict;
  const applies =
    drain.isAll || (!undrainedRoutes.has(asked.check.route) && !holdsLock(view, asked.node, asked.claims));
  return applies ? unfit("drained", drain.reason) : verdict;
}
