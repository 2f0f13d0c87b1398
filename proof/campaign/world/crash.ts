import { isServing, type ModelNode, positionOf } from "./node.ts";
import type { World } from "./world.ts";

/** The size of a segment of WAL: a standby that starts requests WAL from the beginning of its last segment. */
export const segmentBytes = 16 * 1024 * 1024;

/** What follows when PostgreSQL of a node was killed while Patroni goes on. */
export interface Crash {
  /** Whether PostgreSQL cannot be started again for now. */
  isBroken: boolean;
  /** What is known of its recovery; `null`: it is short, and the standbys reconnect at once. */
  readonly recovery: Recovery | null;
}

/** How a primary comes back in place. */
interface Recovery {
  /** How long the crash recovery takes, in ms. */
  readonly takesMs: number;
  /** How long after it the standbys reconnect, in ms. */
  readonly reconnectMs: number;
  /** Whether Patroni starts it as a standby, and promotes it to the next timeline. */
  readonly promotes: boolean;
}

/**
 * Kills PostgreSQL of a node after a time in which the disk takes no writes: what its primary wrote meanwhile is lost.
 * Its own query fails first, so its state is unknown until Patroni's next loop.
 */
export function crash(node: ModelNode, { nowMs, hangMs, isBroken, recovery = null }: CrashOptions): Crash | null {
  if (!isServing(node) || node.state !== "running" || node.transition !== null) return null;
  const begun: Crash = { isBroken, recovery };
  node.isFlushing = false;
  node.transition = {
    atMs: nowMs + hangMs,
    next: () => {
      node.state = "unknown";
      node.isStreaming = false;
      node.crash = begun;
    },
  };
  return begun;
}

interface CrashOptions {
  readonly nowMs: number;
  readonly hangMs: number;
  readonly isBroken: boolean;
  readonly recovery?: Recovery | null;
}

/** Patroni's loop on a node whose PostgreSQL does not run: it is started again, and a holder keeps the lock. */
export function recover(world: World, node: ModelNode, nowMs: number): void {
  const { crash: known } = node;
  if (known === null) return;
  const holder = world.holder(nowMs);
  node.seesLock = holder !== null;
  const holds = holder === node.name && node.leaseUntilMs > nowMs;
  if (holds && node.state === "start failed") {
    world.dcs.lock = null;
    node.leaseUntilMs = 0;
  } else if (holds) world.take(node, nowMs);
  if (node.state === "starting" || node.transition !== null) return;
  const { loopMs } = world.profile;
  const { chance } = world;
  node.state = node.state === "unknown" ? "crashed" : node.state;
  node.transition = {
    atMs: nowMs + loopMs * (0.1 + 0.3 * chance.next()),
    next: () => {
      node.state = "starting";
      node.transition = {
        atMs: nowMs + (known.recovery?.takesMs ?? loopMs * (0.6 + chance.next())),
        next: () => {
          if (known.isBroken) node.state = "start failed";
          else start(world, node);
        },
      };
    },
  };
}

/** Crash recovery has ended: with the lock as a primary on the same timeline, else as a replica. */
function start(world: World, node: ModelNode): void {
  const recovery = node.crash?.recovery ?? null;
  node.crash = null;
  node.startedMs = world.nowMs;
  node.isFlushing = true;
  node.state = "running";
  node.nextLoopMs = 0;
  if (node.role === "primary" && node.leaseUntilMs > 0 && world.dcs.lock?.holder === node.name) {
    node.written = node.flushed;
    if (recovery === null) return;
    for (const other of world.nodes)
      if (other.upstream === node.name) other.reconnectsAtMs = world.nowMs + recovery.reconnectMs;
    if (!recovery.promotes) return;
    Object.assign(node, { role: "replica", received: node.flushed, replayed: node.flushed, upstream: null });
    return;
  }
  const position = node.role === "primary" ? node.flushed : positionOf(node);
  node.role = "replica";
  node.leaseUntilMs = 0;
  node.upstream = null;
  node.isReplayPaused = false;
  node.replayed = position;
  node.received = position - (position % segmentBytes);
}
