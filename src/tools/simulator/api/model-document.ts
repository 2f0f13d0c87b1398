import type { Cluster } from "../model/cluster.ts";
import type { SimulatorObject } from "../model/json.ts";
import { reportedLsn } from "../model/lsn.ts";
import type { ApiFault, SimulatedNode } from "../model/node.ts";

/** Returns the model as `GET /sim` shows it: the lock, the time, and every node with its faults. */
export function modelDocument(cluster: Cluster): SimulatorObject {
  const { lock, nowMs, settings } = cluster;
  return {
    scope: cluster.scope,
    now: new Date(nowMs).toISOString(),
    timeline: cluster.timeline,
    lock:
      lock === undefined
        ? null
        : { holder: lock.holder, expires_in_ms: Math.round(lock.renewedAtMs + settings.ttlMs - nowMs) },
    sync: cluster.sync,
    nodes: cluster.nodes.map(nodeDocument),
  };
}

function nodeDocument(node: SimulatedNode): SimulatorObject {
  return {
    name: node.name,
    api_url: node.apiUrl,
    faults: faultsOf(node),
    state: node.state,
    role: node.role,
    timeline: node.timeline,
    following: node.following ?? null,
    received: reportedLsn(node.receivedLsn),
    replayed: reportedLsn(node.replayedLsn),
    motion: node.transition?.kind ?? null,
  };
}

function faultsOf(node: SimulatedNode): SimulatorObject {
  return {
    ...(!node.alive && { kill: true }),
    ...(node.frozenAtMs !== undefined && { freeze: true }),
    ...(node.detachedAtMs !== undefined && { detach: true }),
    ...(node.lagBytes !== undefined && { lag: Number.isFinite(node.lagBytes) ? node.lagBytes : true }),
    ...(node.claimsLock && { claim: true }),
    ...apiFault(node.api),
  };
}

function apiFault(fault: ApiFault): SimulatorObject {
  switch (fault.kind) {
    case "none":
      return {};
    case "hang":
      return { hang: true };
    case "slow":
      return { slow: fault.ms };
    case "garbage":
      return { garbage: fault.style };
  }
}
