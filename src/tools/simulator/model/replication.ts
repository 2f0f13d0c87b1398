import { type Cluster, connectionTimeoutMs, simulatedNodeNamed } from "./cluster.ts";
import { isAwake, isSource, type SimulatedNode } from "./node.ts";

const receiveDelayMs = 10;
const replayDelayMs = 30;

/** Advances the WAL to `nowMs`: sources write at the cluster's rate, replicas receive and replay slightly later. */
export function advanceWal(cluster: Cluster, nowMs: number): void {
  const elapsedMs = Math.max(0, nowMs - cluster.nowMs);
  cluster.nowMs = Math.max(cluster.nowMs, nowMs);
  const bytesPerMs = cluster.timing.walBytesPerSecond / 1000;
  for (const node of cluster.nodes) {
    if (isSource(node)) write(node, bytesPerMs * elapsedMs);
  }
  for (const node of cluster.nodes) {
    if (isReplaying(node)) replay(cluster, node);
  }
}

/** Appends bytes to a source's WAL. */
export function write(node: SimulatedNode, bytes: number): void {
  node.receivedLsn += bytes;
  node.replayedLsn = node.receivedLsn;
}

/**
 * Returns the receiver state that the node reports: `streaming` also for a while after the connection went silent, as
 * real nodes do.
 */
export function replicationState(cluster: Cluster, node: SimulatedNode): "streaming" | undefined {
  if (node.state !== "running" || node.role === "primary") return undefined;
  if (node.role === "standby_leader") return "streaming";
  if (node.detachedAtMs !== undefined)
    return cluster.nowMs - node.detachedAtMs < connectionTimeoutMs ? "streaming" : undefined;
  const source = sourceOf(cluster, node);
  if (source === undefined || !source.alive || source.state !== "running" || source.role === "replica")
    return undefined;
  const silentMs = source.frozenAtMs === undefined ? 0 : cluster.nowMs - source.frozenAtMs;
  return silentMs < connectionTimeoutMs ? "streaming" : undefined;
}

/** Returns the standbys in the node's `replication` list. A frozen one stays until the sender times out. */
export function connectedStandbys(cluster: Cluster, node: SimulatedNode): readonly SimulatedNode[] {
  if (node.state !== "running") return [];
  return cluster.nodes.filter(
    (other) =>
      other.following === node.name &&
      other !== node &&
      other.alive &&
      other.state === "running" &&
      other.role === "replica" &&
      other.detachedAtMs === undefined &&
      (other.frozenAtMs === undefined || cluster.nowMs - other.frozenAtMs < connectionTimeoutMs),
  );
}

/**
 * Writes the synchronous-standby key: with `on` one connected standby, kept while it stays connected; with `quorum`
 * all.
 */
export function chooseSync(cluster: Cluster): void {
  const { synchronousMode } = cluster.settings;
  if (synchronousMode === "off") {
    cluster.sync = [];
    return;
  }
  const leader = cluster.lock === undefined ? undefined : simulatedNodeNamed(cluster, cluster.lock.holder);
  // Without a writing leader the key stays: only a synchronous standby may become the leader.
  if (leader === undefined || !isSource(leader)) return;
  const names = connectedStandbys(cluster, leader).map((node) => node.name);
  if (synchronousMode === "quorum") cluster.sync = names;
  else if (!cluster.sync.some((name) => names.includes(name)) || cluster.sync.length > 1)
    cluster.sync = names.slice(0, 1);
}

function isReplaying(node: SimulatedNode): boolean {
  return isAwake(node) && node.state === "running" && node.role === "replica";
}

function replay(cluster: Cluster, node: SimulatedNode): void {
  const source = node.detachedAtMs === undefined ? sourceOf(cluster, node) : undefined;
  const flowing = source !== undefined && isSource(source) && source.timeline === node.timeline ? source : undefined;
  // After a clean shutdown of the source all its WAL has arrived. The last bytes of a killed or frozen one are lost.
  const shutDown = source !== undefined && isShutDown(source) && source.timeline === node.timeline ? source : undefined;
  const bytesPerMs = cluster.timing.walBytesPerSecond / 1000;
  if (flowing !== undefined)
    node.receivedLsn = Math.max(node.receivedLsn, flowing.receivedLsn - bytesPerMs * receiveDelayMs);
  if (shutDown !== undefined) node.receivedLsn = Math.max(node.receivedLsn, shutDown.receivedLsn);
  const end = flowing?.receivedLsn ?? node.receivedLsn;
  const lagBytes = node.lagBytes ?? (flowing === undefined ? 0 : bytesPerMs * replayDelayMs);
  const replayed = Math.min(node.receivedLsn, end - lagBytes);
  if (replayed > node.replayedLsn) {
    node.replayedLsn = replayed;
    node.replayedAtMs = cluster.nowMs;
  }
}

function isShutDown(node: SimulatedNode): boolean {
  return isAwake(node) && (node.state === "stopping" || node.state === "stopped" || node.state === "restarting");
}

function sourceOf(cluster: Cluster, node: SimulatedNode): SimulatedNode | undefined {
  return node.following === undefined ? undefined : simulatedNodeNamed(cluster, node.following);
}
