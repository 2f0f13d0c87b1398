/** What rolecall may have heard of a leader that states no position, and how long a hold lasts. */
import { rowOf, type Served } from "../wire/served.ts";
import { isLeading, topOf } from "./reports.ts";
import { type Scene, slackMs } from "./scene.ts";

/** Whether an answer states a position as the leader. */
export function states(served: Served): boolean {
  return isLeading(served) && topOf(served) !== null;
}

export function isHonest({ world, troubles }: Scene, fromMs: number): boolean {
  return world.nodes.every(({ name }) => troubles.isFree(name, fromMs, "claim", "view", "guest", "guestEver", "moved"));
}

export function claimsOfOthers({ evidence, world }: Scene, stood: string, fromMs: number): readonly Served[] {
  return world.nodes
    .filter(({ name }) => name !== stood)
    .flatMap(({ name }) => [...evidence.since(name, "status", fromMs)])
    .filter((one) => one.status === 200 && evidence.isPossible(one));
}

export function viewsOfOthers({ evidence, world }: Scene, nodes: readonly string[], fromMs: number): readonly Served[] {
  return world.nodes
    .filter(({ name }) => !nodes.includes(name))
    .flatMap(({ name }) => [...evidence.since(name, "cluster", fromMs)])
    .filter((one) => evidence.isPossible(one))
    .sort((one, other) => one.arrivedMs - other.arrivedMs);
}

export function isRowBehind(view: Served, node: string): boolean {
  return rowOf(view, node)?.["lag"] !== 0;
}

/**
 * The last instant at which rolecall may have heard anything that begins or prolongs a hold, or gives a sample: a
 * position of a leader, another claim, a view of a third node, any answer of the leader, a higher position of a
 * replica.
 */
export function lastNewsMs(scene: Scene, stood: string, node: string): number {
  const { evidence, world } = scene;
  let lastMs = -Infinity;
  for (const { name } of world.nodes) {
    let top = -Infinity;
    for (const one of evidence.since(name, "status", -Infinity)) {
      if (!evidence.isPossible(one)) continue;
      const reached = topOf(one) ?? -Infinity;
      if (name === stood || one.status === 200 || reached > top) lastMs = Math.max(lastMs, one.doneMs ?? one.arrivedMs);
      top = Math.max(top, reached);
    }
  }
  return Math.max(lastMs, viewsOfOthers(scene, [node], -Infinity).at(-1)?.doneMs ?? -Infinity);
}

/** How long a hold lasts, in ms: rolecall may not know the cluster's settings yet. */
export function limitOf({ evidence, profile, world }: Scene, which: "least" | "most"): number {
  const { ttlMs, loopMs, retryMs } = profile;
  const limitMs = ttlMs + loopMs + retryMs;
  const isKnown = world.nodes.some(({ name }) =>
    evidence.newestSure(name, "other", Infinity, ({ path, status }) => path.startsWith("/config") && status === 200),
  );
  if (isKnown) return limitMs;
  return which === "least" ? Math.min(limitMs, unknownLimitMs) : Math.max(limitMs, unknownLimitMs);
}

/** The hold while the cluster's settings are unknown, in ms. */
const unknownLimitMs = 50_000;

/** For how long stalls of rolecall matter, in ms: longer than every hold. */
const stallsMs = 400_000;

/** What the age of reports and the distance of samples may add to a lag, in ms. */
export function marginOf(scene: Scene, askedMs: number): number {
  const { maxAgeMs, intervalMs, timeoutMs } = scene.profile;
  return maxAgeMs + 2 * (intervalMs + timeoutMs) + slackMs(scene, askedMs - stallsMs, askedMs);
}
