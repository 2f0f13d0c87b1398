import { type Cluster, type FailoverKey, modelHoldsLock, nodeNamed } from "./cluster.ts";
import { begin } from "./transitions.ts";
import { isReachable, isSource, type SimulatedNode } from "./node.ts";
import { truthy } from "./settings.ts";

/**
 * The leader race, run while nobody holds the lock: a primary that is still there takes the lock again; else, unless paused, the candidate
 * of a manual failover; else the eligible node that received most (seed, "a node may take part in a leader race").
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
  const asked = due === undefined ? undefined : candidateOf(cluster, due);
  const winner = asked ?? (cluster.settings.pause ? undefined : candidateOf(cluster, anyone));
  if (winner === undefined) return;
  takeLock(cluster, winner);
  begin(cluster, winner, "promoting");
}

const anyone: FailoverKey = { leader: undefined, candidate: undefined, scheduledAtMs: undefined };

/**
 * The node that would lead after this switchover or failover: the candidate named, if it may, or the best of all. `undefined`: none may.
 * A failover to a candidate (no leader named) asks only that it is reachable and not `nofailover`.
 */
export function candidateOf(cluster: Cluster, key: FailoverKey): SimulatedNode | undefined {
  if (key.candidate !== undefined) {
    const named = nodeNamed(cluster, key.candidate);
    const fit =
      named !== undefined && (key.leader === undefined ? isStanding(cluster, named) : isEligible(cluster, named));
    return fit ? named : undefined;
  }
  const eligible = cluster.nodes.filter((node) => isEligible(cluster, node));
  return eligible.reduce<SimulatedNode | undefined>(
    (best, node) => (best === undefined || isBetter(node, best) ? node : best),
    undefined,
  );
}

/** Says whether the node answers and is not tagged `nofailover`: Patroni's failover_limitation. */
export function isEligibleToStand(node: SimulatedNode): boolean {
  return isReachable(node) && !truthy(node.tags["nofailover"]);
}

function isStanding(cluster: Cluster, node: SimulatedNode): boolean {
  return (
    isEligibleToStand(node) && node.state === "running" && node.motion === undefined && !modelHoldsLock(cluster, node)
  );
}

function isEligible(cluster: Cluster, node: SimulatedNode): boolean {
  const { settings } = cluster;
  if (!isStanding(cluster, node) || node.role !== "replica") return false;
  if (cluster.leaderLsn - node.receivedLsn > settings.maximumLagOnFailover) return false;
  if (settings.checkTimeline && node.timeline < cluster.timeline) return false;
  return settings.synchronousMode === "off" || cluster.sync.includes(node.name);
}

function isBetter(node: SimulatedNode, best: SimulatedNode): boolean {
  if (node.receivedLsn !== best.receivedLsn) return node.receivedLsn > best.receivedLsn;
  return failoverPriority(node) > failoverPriority(best);
}

/** The node's tag `failover_priority`; 1 when it has none. */
export function failoverPriority(node: SimulatedNode): number {
  const tag = node.tags["failover_priority"];
  return typeof tag === "number" ? tag : 1;
}

function takeLock(cluster: Cluster, node: SimulatedNode): void {
  cluster.lock = { holder: node.name, renewedAtMs: cluster.nowMs };
  // A switchover scheduled for later outlives an unplanned failover, as its key does in the store.
  if ((cluster.failover?.scheduledAtMs ?? 0) <= cluster.nowMs) cluster.failover = undefined;
}
