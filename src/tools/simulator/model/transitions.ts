import { type Cluster, modelHoldsLock, leaderOf, wakeLoops } from "./cluster.ts";
import type { Transition, SimulatedNode } from "./node.ts";
import { reportedLsn } from "./lsn.ts";
import { formatHistoryTime } from "./timestamp.ts";

/** The most history rows kept. A real cluster keeps all unless `max_timelines_history` is set. */
const historyRowsMax = 1000;

/**
 * The fraction of `switchoverMs` that each transition takes. Handing over, the race (`raceShare`) and promoting make
 * up a switchover.
 */
const shares: Readonly<Record<Transition["kind"], number>> = {
  "handing over": 0.4,
  demoting: 0.25,
  demoted: 0.25,
  starting: 0.5,
  promoting: 0.4,
  restarting: 0.5,
  wiping: 0.25,
  copying: 1,
};
const raceShare = 0.2;

/** Begins a transition: the node's state and role become those that real nodes report meanwhile. */
export function beginTransition(cluster: Cluster, node: SimulatedNode, kind: Transition["kind"]): void {
  node.transition = { kind, endsAtMs: cluster.nowMs + shares[kind] * cluster.timing.switchoverMs };
  switch (kind) {
    case "handing over":
    case "demoting":
    case "wiping":
      node.state = "stopping";
      return;
    case "demoted":
      node.state = "stopped";
      node.role = "demoted";
      return;
    case "starting":
      node.state = "starting";
      if (!modelHoldsLock(cluster, node)) node.role = "replica";
      return;
    case "promoting":
      return;
    case "restarting":
      node.state = "restarting";
      return;
    case "copying":
      node.state = "creating replica";
      return;
  }
}

/** Ends the node's transition and begins the one that follows, if any. */
export function endTransition(cluster: Cluster, node: SimulatedNode): void {
  const kind = node.transition?.kind;
  node.transition = undefined;
  switch (kind) {
    case undefined:
      return;
    case "handing over":
      if (modelHoldsLock(cluster, node)) release(cluster);
      beginTransition(cluster, node, "demoted");
      return;
    case "demoting":
      beginTransition(cluster, node, "demoted");
      return;
    case "demoted":
      beginTransition(cluster, node, "starting");
      return;
    case "copying":
      clone(cluster, node);
      beginTransition(cluster, node, "starting");
      return;
    case "wiping":
      beginTransition(cluster, node, "copying");
      return;
    case "starting":
    case "restarting":
      start(cluster, node);
      return;
    case "promoting":
      promote(cluster, node);
      return;
  }
}

/** Releases the lock. The other nodes race for it shortly after. */
export function release(cluster: Cluster): void {
  cluster.lock = undefined;
  wakeLoops(cluster, raceShare * cluster.timing.switchoverMs);
}

/** Makes a replica stream from the leader. WAL past the start of the leader's timeline is rewound. */
export function attach(cluster: Cluster, node: SimulatedNode): void {
  const leader = leaderOf(cluster);
  if (leader === undefined || leader === node || leader.transition?.kind === "promoting") return;
  if (node.following === leader.name && node.timeline === leader.timeline) return;
  node.following = leader.name;
  if (node.timeline === leader.timeline) return;
  const switchLsn = cluster.history.find(([timeline]) => timeline === node.timeline)?.[1] ?? leader.receivedLsn;
  node.receivedLsn = Math.min(node.receivedLsn, switchLsn);
  node.replayedLsn = Math.min(node.replayedLsn, node.receivedLsn);
  node.timeline = leader.timeline;
}

/** Takes a base backup of the leader: the node gets its present position and timeline. */
function clone(cluster: Cluster, node: SimulatedNode): void {
  const leader = leaderOf(cluster);
  if (leader === undefined || !leader.alive) return;
  node.receivedLsn = leader.receivedLsn;
  node.replayedLsn = leader.receivedLsn;
  node.timeline = leader.timeline;
}

function start(cluster: Cluster, node: SimulatedNode): void {
  node.state = "running";
  node.startedAtMs = cluster.nowMs;
  node.parameters = cluster.settings.parameters;
  node.pendingRestart = new Map();
  node.nextLoopAtMs = cluster.nowMs;
  if (modelHoldsLock(cluster, node) && node.role !== "replica") return;
  node.role = "replica";
  node.replayedAtMs = undefined;
  attach(cluster, node);
}

function promote(cluster: Cluster, node: SimulatedNode): void {
  if (!modelHoldsLock(cluster, node)) return;
  node.following = undefined;
  node.nextLoopAtMs = cluster.nowMs;
  if (cluster.settings.standbyCluster) {
    node.role = "standby_leader";
  } else {
    node.receivedLsn = reportedLsn(node.receivedLsn);
    node.replayedLsn = node.receivedLsn;
    node.role = "primary";
    const row = [
      cluster.timeline,
      node.receivedLsn,
      "no recovery target specified",
      formatHistoryTime(cluster.nowMs),
      node.name,
    ] as const;
    cluster.history = [...cluster.history, row].slice(-historyRowsMax);
    cluster.timeline += 1;
    node.timeline = cluster.timeline;
  }
  wakeLoops(cluster, raceShare * cluster.timing.switchoverMs);
}
