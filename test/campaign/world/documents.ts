import type { ModelNode } from "./node.ts";
import { listedAt } from "./wal.ts";
import type { World } from "./world.ts";

/** A JSON object as a node sends it. */
export type Document = Record<string, unknown>;

/** Whether a node answers 200 to `GET /leader`. */
export function claims(world: World, node: ModelNode, nowMs: number): boolean {
  if (world.dcs.isPaused && !node.hasView) return node.role === "primary";
  return node.leaseUntilMs > nowMs;
}

/** The node's status document. */
export function statusDocument(world: World, node: ModelNode, nowMs: number): Document {
  const isOld = node.generation === 3;
  const document: Document = {
    state: node.state,
    role: node.role === "replica" ? "replica" : isOld ? "master" : "primary",
    ...(node.state === "running" ? runningFields(world, node, nowMs) : {}),
    ...(node.seesLock && node.hasView ? {} : { cluster_unlocked: true }),
    ...(node.isFailsafe ? { failsafe_mode_is_active: true } : {}),
    ...(world.dcs.isPaused ? { pause: true } : {}),
    // The last loop that reached the DCS, as the nodes have it: it does not change with every answer.
    dcs_last_seen: Math.floor(world.wallMs(node.dcsSeenMs) / 1_000),
    database_system_identifier: world.system,
    patroni: { version: isOld ? "3.0.2" : "4.1.4", scope: world.scope, ...(isOld ? {} : { name: node.name }) },
  };
  return document;
}

function runningFields(world: World, node: ModelNode, nowMs: number): Document {
  const listed = listedAt(world, node, nowMs).map(({ name, host }) => ({
    usename: "replicator",
    application_name: name,
    client_addr: host,
    state: "streaming",
    sync_state: "async",
    sync_priority: 0,
  }));
  const isReplica = node.role === "replica";
  return {
    postmaster_start_time: "2026-11-21 05:45:54.028732+00:00",
    server_version: 150_020,
    xlog: isReplica
      ? {
          received_location: node.received,
          replayed_location: node.replayed,
          replayed_timestamp: null,
          paused: node.isReplayPaused,
        }
      : { location: node.written },
    timeline: isReplica ? node.shownTimeline : node.timeline,
    ...(isReplica && node.generation === 4
      ? { replication_state: node.receiver === "dead" ? "in archive recovery" : "streaming" }
      : {}),
    ...(listed.length > 0 ? { replication: listed } : {}),
  };
}

/**
 * The cluster document, as the DCS has it.
 * @param leader the leader to name in place of the true holder, or null for none
 */
export function clusterDocument(world: World, node: ModelNode, leader: string | null, nowMs: number): Document {
  const isOld = node.generation === 3;
  const records = [...world.dcs.members.values()].filter(
    ({ name, writtenMs }) => name === leader || nowMs - writtenMs < world.profile.ttlMs,
  );
  const top = records.find(({ name }) => name === leader)?.position ?? null;
  const members = records.map(({ name, state, timeline, position, apiUrl }) => {
    const member = world.node(name);
    const common = { name, state, api_url: apiUrl, host: member.host, port: 5432, timeline };
    if (name === leader) return { ...common, role: "leader" };
    const lag = top === null ? "unknown" : Math.max(0, top - position);
    return { ...common, role: "replica", state: isOld || state !== "running" ? state : "streaming", lag };
  });
  return { members, ...(world.dcs.isPaused ? { pause: true } : {}), ...(isOld ? {} : { scope: world.scope }) };
}

/** The rows of history that a node has cached. */
export function historyDocument(world: World, node: ModelNode): readonly unknown[] {
  return world.forks
    .slice(0, node.historyRows)
    .map(({ timeline, position, by, at }) => [
      timeline,
      position,
      "no recovery target specified",
      at,
      ...(node.generation === 3 ? [] : [by]),
    ]);
}

/** The dynamic configuration, in whole seconds. */
export function configDocument(world: World): Document {
  const seconds = (ms: number): number => Math.max(1, Math.round(ms / 1_000));
  const { ttlMs, loopMs, retryMs } = world.profile;
  return {
    ttl: seconds(ttlMs),
    loop_wait: seconds(loopMs),
    retry_timeout: seconds(retryMs),
    maximum_lag_on_failover: 1_048_576,
  };
}

/** The position a node reports for itself, or null where its document has none. */
export function statedPosition(
  document: Document | null,
): { readonly location: number } | { readonly received: number; readonly replayed: number } | null {
  const xlog = document?.["xlog"];
  if (typeof xlog !== "object" || xlog === null) return null;
  const { location, received_location: received, replayed_location: replayed } = xlog as Record<string, unknown>;
  if (typeof location === "number") return { location };
  if (typeof received === "number" && typeof replayed === "number") return { received, replayed };
  return null;
}
