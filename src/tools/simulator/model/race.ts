import { type Cluster, type FailoverKey, modelHoldsLock, simulatedNodeNamed } from "./cluster.ts";
import { beginTransition } from "./transitions.ts";
import { isReachable, isSource, type SimulatedNode } from "./node.ts";
import { truthy } from "./settings.ts";

/**
 * Runs the leader race while no node holds the lock. A primary that still runs takes the lock again; otherwise the
 * candidate of a manual failover; otherwise, unless paused, the eligible node that received the most WAL
 * (Patroni 4.1.4, ha.py, `is_healthiest_node`).
 */
export function race(cluster: Cluster): void {
  const primary = cluster.nodes.find(
    (node) => node.role === "primary" && isSource(node) && node.timeline === cluster.timeline,
  );
  if (primary !== undefined) {
    takeLock(cluster, primary);
    return;
  }
  const { failover } = cluster;
  const due = failover !== undefined && (failover.scheduledAtMs ?? 0) <= cluster.nowMs ? failover : undefined;
  const requested = due === undefined ? undefined : candidateOf(cluster, due);
  const winner = requested ?? (cluster.settings.pause ? undefined : candidateOf(cluster, anyone));
  if (winner === undefined) return;
  takeLock(cluster, winner);
  beginTransition(cluster, winner, "promoting");
}

const anyone: FailoverKey = { leader: undefined, candidate: undefined, scheduledAtMs: undefined };

/**
 * Returns the node that would lead after this switchover or failover: the named candidate if it is eligible, or the
 * best of all; `undefined` if none is eligible. A failover to a candidate (without a leader) needs it only to be
 * reachable and not `nofailover`.
 */
export function candidateOf(cluster: Cluster, key: FailoverKey): SimulatedNode | undefined {
  if (key.candidate !== undefined) {
    const named = simulatedNodeNamed(cluster, key.candidate);
    const isFit =
      named !== undefined && (key.leader === undefined ? isAvailable(cluster, named) : isEligible(cluster, named));
    return isFit ? named : undefined;
  }
  const eligible = cluster.nodes.filter((node) => isEligible(cluster, node));
  return eligible.reduce<SimulatedNode | undefined>(
    (best, node) => (best === undefined || isBetter(node, best) ? node : best),
    undefined,
  );
}

/** Returns whether the node answers and is not tagged `nofailover` (Patroni: failover_limitation). */
export function mayLead(node: SimulatedNode): boolean {
  return isReachable(node) && !truthy(node.tags["nofailover"]);
}

function isAvailable(cluster: Cluster, node: SimulatedNode): boolean {
  return mayLead(node) && node.state === "running" && node.transition === undefined && !modelHoldsLock(cluster, node);
}

function isEligible(cluster: Cluster, node: SimulatedNode): boolean {
  const { settings } = cluster;
  if (!isAvailable(cluster, node) || node.role !== "replica") return false;
  if (cluster.leaderLsn - node.receivedLsn > settings.maximumLagOnFailover) return false;
  if (settings.checkTimeline && node.timeline < cluster.timeline) return false;
  return settings.synchronousMode === "off" || cluster.sync.includes(node.name);
}

function isBetter(node: SimulatedNode, best: SimulatedNode): boolean {
  if (node.receivedLsn !== best.receivedLsn) return node.receivedLsn > best.receivedLsn;
  return failoverPriority(node) > failoverPriority(best);
}

/** Returns the node's tag `failover_priority`, by default 1. */
export function failoverPriority(node: SimulatedNode): number {
  const tag = node.tags["failover_priority"];
  return typeof tag === "number" ? tag : 1;
}

function takeLock(cluster: Cluster, node: SimulatedNode): void {
  cluster.lock = { holder: node.name, renewedAtMs: cluster.nowMs };
  // A switchover scheduled for later survives an unplanned failover, as its key in the DCS does.
  if ((cluster.failover?.scheduledAtMs ?? 0) <= cluster.nowMs) cluster.failover = undefined;
}
