import { type Cluster, leaderOf, modelHoldsLock } from "./cluster.ts";
import { attach, beginTransition, endTransition } from "./transitions.ts";
import { type MemberKey, type PendingParameter, type SimulatedNode, isSource } from "./node.ts";
import { candidateOf, race } from "./race.ts";
import { replicationState } from "./replication.ts";
import { restartMatches } from "./restart.ts";

/**
 * Runs a node's HA loop once: renews or races for the lock, follows the cluster's requests, and writes its member
 * key.
 */
export function runLoop(cluster: Cluster, node: SimulatedNode): void {
  const { nowMs } = cluster;
  if (modelHoldsLock(cluster, node)) lead(cluster, node);
  else follow(cluster, node);
  const restart = node.scheduledRestart;
  if (restart !== undefined && restart.atMs <= nowMs && node.transition === undefined) {
    node.scheduledRestart = undefined;
    if (restartMatches(node, restart.filters)) beginTransition(cluster, node, "restarting");
  }
  node.pendingRestart = pendingParameters(node.parameters, cluster.settings.parameters);
  node.lastLoopAtMs = nowMs;
  node.nextLoopAtMs = nextLoop(cluster, node);
  node.member = memberKey(cluster, node);
}

function lead(cluster: Cluster, node: SimulatedNode): void {
  const { nowMs, settings, failover } = cluster;
  cluster.lock = { holder: node.name, renewedAtMs: nowMs };
  if (isSource(node)) cluster.leaderLsn = node.receivedLsn;
  if (node.transition !== undefined) return;
  if (settings.standbyCluster && node.role === "primary") {
    node.role = "standby_leader";
    beginTransition(cluster, node, "restarting");
  } else if (!settings.standbyCluster && node.role !== "primary") {
    beginTransition(cluster, node, "promoting");
  } else if (failover !== undefined && (failover.scheduledAtMs ?? 0) <= nowMs) {
    const isMine = failover.leader === undefined || failover.leader === node.name;
    if (isMine && candidateOf(cluster, failover) !== undefined) beginTransition(cluster, node, "handing over");
    else cluster.failover = undefined;
  }
}

function follow(cluster: Cluster, node: SimulatedNode): void {
  if (cluster.lock === undefined) {
    race(cluster);
    return;
  }
  // A primary that finds another holder has lost the lock: it stops, and starts again as a replica.
  const hasLost = node.role === "primary" || node.role === "standby_leader";
  if (node.transition?.kind === "promoting") endTransition(cluster, node);
  if (node.transition !== undefined) return;
  if (hasLost) beginTransition(cluster, node, "demoting");
  else if (leaderOf(cluster)?.state === "running") attach(cluster, node);
}

function nextLoop(cluster: Cluster, node: SimulatedNode): number {
  const { nowMs, failover } = cluster;
  const plans = [modelHoldsLock(cluster, node) ? failover?.scheduledAtMs : undefined, node.scheduledRestart?.atMs];
  const ahead = plans.filter((atMs): atMs is number => atMs !== undefined && atMs > nowMs);
  return Math.min(nowMs + cluster.settings.loopWaitMs, ...ahead);
}

function memberKey(cluster: Cluster, node: SimulatedNode): MemberKey {
  const isUp = node.state === "running";
  const isReplica = node.role !== "primary";
  return {
    writtenAtMs: cluster.nowMs,
    state: node.state,
    timeline: isUp ? node.timeline : undefined,
    replicationState: replicationState(cluster, node),
    location: isUp && !isReplica ? node.receivedLsn : undefined,
    received: isUp && isReplica ? node.receivedLsn : undefined,
    replayed: isUp && isReplica ? node.replayedLsn : undefined,
    pendingRestart: node.pendingRestart,
    scheduledRestart: node.scheduledRestart,
  };
}

/** Parameters that need a restart (PostgreSQL, context `postmaster`), with their defaults. */
const restartDefaults: ReadonlyMap<string, string> = new Map([
  ["archive_mode", "off"],
  ["hot_standby", "on"],
  ["huge_pages", "try"],
  ["max_connections", "100"],
  ["max_files_per_process", "1000"],
  ["max_locks_per_transaction", "64"],
  ["max_prepared_transactions", "0"],
  ["max_replication_slots", "10"],
  ["max_wal_senders", "10"],
  ["max_worker_processes", "8"],
  ["shared_buffers", "128MB"],
  ["shared_preload_libraries", ""],
  ["track_commit_timestamp", "off"],
  ["wal_buffers", "-1"],
  ["wal_level", "replica"],
  ["wal_log_hints", "on"],
]);

/** Returns the parameters that need a restart: those whose current value differs from the configured one. */
function pendingParameters(
  inForce: ReadonlyMap<string, string>,
  configured: ReadonlyMap<string, string>,
): ReadonlyMap<string, PendingParameter> {
  const pending = new Map<string, PendingParameter>();
  for (const [name, fallback] of restartDefaults) {
    const oldValue = inForce.get(name) ?? fallback;
    const newValue = configured.get(name) ?? fallback;
    if (oldValue !== newValue) pending.set(name, { old_value: oldValue, new_value: newValue });
  }
  return pending;
}
