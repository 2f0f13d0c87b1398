import { type Cluster, modelHoldsLock } from "./cluster.ts";
import { runLoop } from "./loop.ts";
import { end, release } from "./transitions.ts";
import { isAwake, type SimulatedNode } from "./node.ts";
import { chooseSync, flow } from "./replication.ts";

/** Moves the model to `nowMs` (epoch milliseconds), event by event; a time already passed changes nothing. */
export function advance(cluster: Cluster, nowMs: number): void {
  for (;;) {
    const atMs = nextEventAt(cluster);
    if (atMs > nowMs) break;
    flow(cluster, atMs);
    happen(cluster);
  }
  flow(cluster, nowMs);
}

/** When something happens next by itself: a lock expires, a motion ends, a loop is due. Infinity when everybody is dead and nothing is held. */
export function nextEventAt(cluster: Cluster): number {
  let atMs = lockExpiry(cluster);
  for (const node of cluster.nodes) {
    if (!isAwake(node)) continue;
    atMs = Math.min(atMs, node.nextLoopAtMs, node.motion?.endsAtMs ?? Infinity);
  }
  return atMs;
}

function happen(cluster: Cluster): void {
  const { nowMs } = cluster;
  for (const node of inOrder(cluster)) {
    if (isAwake(node) && (node.motion?.endsAtMs ?? Infinity) <= nowMs) end(cluster, node);
  }
  // The holder runs first: a lock renewed at the very instant of its expiry is kept.
  for (const node of inOrder(cluster)) {
    if (isAwake(node) && node.nextLoopAtMs <= nowMs) runLoop(cluster, node);
  }
  if (lockExpiry(cluster) <= nowMs) release(cluster);
  chooseSync(cluster);
}

function lockExpiry(cluster: Cluster): number {
  return cluster.lock === undefined ? Infinity : cluster.lock.renewedAtMs + cluster.settings.ttlMs;
}

function inOrder(cluster: Cluster): readonly SimulatedNode[] {
  return [...cluster.nodes].sort((a, b) => Number(modelHoldsLock(cluster, b)) - Number(modelHoldsLock(cluster, a)));
}
