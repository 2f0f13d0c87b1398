import { type Cluster, modelHoldsLock } from "./cluster.ts";
import { runLoop } from "./loop.ts";
import { endTransition, release } from "./transitions.ts";
import { isAwake, type SimulatedNode } from "./node.ts";
import { advanceWal, chooseSync } from "./replication.ts";

/** Advances the model to `nowMs` (ms since the epoch), event by event. A time in the past changes nothing. */
export function advance(cluster: Cluster, nowMs: number): void {
  for (;;) {
    const atMs = nextEventAt(cluster);
    if (atMs > nowMs) break;
    advanceWal(cluster, atMs);
    processEvents(cluster);
  }
  advanceWal(cluster, nowMs);
}

/**
 * Returns when the next event is due: a lock expires, a transition ends, a loop runs. `Infinity` if no node
 * runs and no lock is held.
 */
export function nextEventAt(cluster: Cluster): number {
  let atMs = lockExpiry(cluster);
  for (const node of cluster.nodes) {
    if (!isAwake(node)) continue;
    atMs = Math.min(atMs, node.nextLoopAtMs, node.transition?.endsAtMs ?? Infinity);
  }
  return atMs;
}

/** Handles what is due at the time of the cluster, which `advanceWal` has set. */
function processEvents(cluster: Cluster): void {
  const { nowMs } = cluster;
  for (const node of holderFirst(cluster)) {
    if (isAwake(node) && (node.transition?.endsAtMs ?? Infinity) <= nowMs) endTransition(cluster, node);
  }
  // The holder runs first, so that a lock renewed at the instant of its expiry is kept.
  for (const node of holderFirst(cluster)) {
    if (isAwake(node) && node.nextLoopAtMs <= nowMs) runLoop(cluster, node);
  }
  if (lockExpiry(cluster) <= nowMs) release(cluster);
  chooseSync(cluster);
}

function lockExpiry(cluster: Cluster): number {
  return cluster.lock === undefined ? Infinity : cluster.lock.renewedAtMs + cluster.settings.ttlMs;
}

function holderFirst(cluster: Cluster): readonly SimulatedNode[] {
  return [...cluster.nodes].sort((a, b) => Number(modelHoldsLock(cluster, b)) - Number(modelHoldsLock(cluster, a)));
}
