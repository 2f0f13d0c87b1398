import type { Drain } from "../cluster/drain.ts";
import type { ClusterPart } from "../cluster/snapshot.ts";
import type { Check } from "./check.ts";
import { holdsLock } from "./lock.ts";
import type { Route } from "./route.ts";
import type { Sight } from "./sight.ts";
import { unfit, type Verdict } from "./verdict.ts";

/** Routes that ask for no replica: all others do, wholly or where the node is not the leader, and a drain answers them. */
const undrainedRoutes: ReadonlySet<Route> = new Set(["primary", "standby-leader", "leader", "health", "liveness"]);

/** The node's drain, if it has one that has not ended. @param nowMs ms of our clock */
export function drainOf(part: ClusterPart, node: string, nowMs: number): Drain | null {
  const drain = part.drains.get(node);
  return drain !== undefined && nowMs < drain.untilMs ? drain : null;
}

/**
 * Takes the yes away from a node that an operator drained (reason `drained`, a soft no). A drain never makes another no
 * milder: hard reasons stay. A lag that is too great gives way to it, or `keep=` would bring the node back in.
 * Liveness is never drained, for its no kills processes; nor is the holder of the lock unless the drain says `all`.
 */
export function withDrain(
  verdict: Verdict,
  sight: Sight,
  asked: { readonly node: string; readonly claims: boolean; readonly check: Check },
): Verdict {
  const drain = drainOf(sight.part, asked.node, sight.nowMs);
  if (drain === null || (!verdict.fit && verdict.reason !== "lagging")) return verdict;
  const applies = drain.isAll || (!undrainedRoutes.has(asked.check.route) && !holdsLock(sight, asked.node, asked.claims));
  return applies ? unfit("drained", drain.reason) : verdict;
}

/** Begins a drain, or ends it with `null`. Others that have ended meanwhile are dropped, so that they cannot pile up. */
export function withDrains(part: ClusterPart, node: string, change: { readonly drain: Drain | null; readonly nowMs: number }): ClusterPart {
  const drains = new Map([...part.drains].filter(([name, { untilMs }]) => name !== node && untilMs > change.nowMs));
  if (change.drain !== null) drains.set(node, change.drain);
  return { ...part, drains };
}
