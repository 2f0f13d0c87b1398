import { isServing, type ModelNode, positionOf } from "./node.ts";
import type { World } from "./world.ts";

/**
 * Lets WAL flow for one tick: primaries write, replicas receive from their upstream and replay.
 * @param bytes the amount a primary writes during the tick
 */
export function flow(world: World, bytes: number): void {
  for (const node of world.nodes) if (node.role === "primary" && isServing(node)) write(node, bytes);
  if (world.remote !== null) write(world.remote, bytes);
  for (const node of [...world.nodes, ...world.nodes]) receive(world, node);
}

function write(node: ModelNode, bytes: number): void {
  node.written += Math.round(bytes);
  if (node.isFlushing) node.flushed = node.written;
}

/** Up to where a node sends WAL: a primary sends what its disk has. */
function sentBy(node: ModelNode): number {
  return node.role === "primary" ? node.flushed : positionOf(node);
}

function receive(world: World, node: ModelNode): void {
  if (node.role === "primary") return;
  node.isStreaming = isServing(node) && node.state === "running" && isConnected(world, node);
  if (!isServing(node)) return;
  if (node.isStreaming && node.upstream !== null) {
    const source = world.node(node.upstream);
    node.timeline = source.timeline;
    node.branch = source.branch;
    node.received = Math.max(node.received, sentBy(source));
  }
  if (!node.isReplayPaused) node.replayed = Math.max(node.replayed, node.received);
}

function isConnected(world: World, node: ModelNode): boolean {
  if (node.receiver !== "streaming" || node.upstream === null || node.upstream === node.name) return false;
  const source = world.node(node.upstream);
  if (world.nowMs < node.reconnectsAtMs) return false;
  if (!isServing(source) || source.timeline < node.timeline || !sharesBranch(world, node, source)) return false;
  // A cascading replica whose own source is the asker would be a ring.
  if (source.role === "replica" && source.upstream === node.name) return false;
  return positionOf(node) <= world.switchPoint(node.timeline, source.timeline) && positionOf(node) <= sentBy(source);
}

/** Whether a node receives WAL from another one, directly or through others: both would be in a ring. */
export function isFedBy(world: World, node: ModelNode, sender: ModelNode): boolean {
  let { upstream } = node;
  for (let left = world.nodes.length; upstream !== null && left > 0; left -= 1) {
    if (upstream === sender.name) return true;
    upstream = world.node(upstream).upstream;
  }
  return false;
}

/** Whether a node's WAL, on its timeline, is that which another node has or continues. */
export function sharesBranch(world: World, node: ModelNode, source: Pick<ModelNode, "timeline" | "branch">): boolean {
  if (node.timeline === source.timeline) return node.branch === source.branch;
  return world.forks.find(({ timeline }) => timeline === node.timeline)?.branch === node.branch;
}

/**
 * The standbys in a node's sender list: those that stream, frozen receivers until the sender drops them, and receivers
 * that get WAL of another timeline with the same number, which cannot be replayed.
 */
export function listedAt(world: World, source: ModelNode, nowMs: number): readonly ModelNode[] {
  if (!isServing(source)) return [];
  return world.nodes.filter((node) => {
    if (node === source || node.upstream !== source.name || node.role === "primary") return false;
    if (node.isStreaming) return true;
    const isSameNumber = node.timeline === source.timeline && node.branch !== source.branch;
    if (isSameNumber && node.receiver === "streaming" && node.state === "running")
      return isServing(node) && node.received <= sentBy(source);
    return node.receiver === "frozen" && node.isUp && nowMs - node.receiverSinceMs < world.profile.senderTimeoutMs;
  });
}

/** Whether a node's WAL has diverged from the leader's history. */
export function hasDiverged(world: World, node: ModelNode): boolean {
  return isPastSwitchPoint(world, node) || isForked(world, node);
}

/** Whether a node is past the end of its timeline in the leader's history: the cluster manager rewinds it. */
export function isPastSwitchPoint(world: World, node: ModelNode): boolean {
  return node.timeline < world.timeline && positionOf(node) > world.switchPoint(node.timeline, world.timeline);
}

/** Whether a node's timeline has the number of one in the leader's history, but other WAL. Nobody notices. */
export function isForked(world: World, node: ModelNode): boolean {
  const holder = world.holding === null ? null : world.node(world.holding.name);
  // Of two leaders on timelines with one number, the first may get the lock again.
  return !sharesBranch(world, node, holder?.role === "primary" ? holder : world);
}
