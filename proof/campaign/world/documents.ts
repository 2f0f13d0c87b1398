import { syncMax } from "./mode.ts";
import type { ModelNode } from "./node.ts";
import { syncRoleOf } from "./sync.ts";
import { listedAt } from "./wal.ts";
import type { MemberRecord, World } from "./world.ts";

/** A JSON object as a node sends it. */
export type Document = Record<string, unknown>;

/** Whether a node answers 200 to `GET /leader`. */
export function claims(world: World, node: ModelNode, nowMs: number): boolean {
  if (world.dcs.isPaused && !node.hasView) return world.leads(node);
  return node.leaseUntilMs > nowMs;
}

/** The node's status document. */
export function statusDocument(world: World, node: ModelNode, nowMs: number): Document {
  const isOld = node.generation === 3;
  const document: Document = { state: node.state, role: roleOf(world, node) };
  if (node.state === "running") addRunningFields(document, world, node, nowMs);
  if (!node.seesLock || !node.hasView) document["cluster_unlocked"] = true;
  if (node.isFailsafe) document["failsafe_mode_is_active"] = true;
  if (world.dcs.isPaused) document["pause"] = true;
  // The last loop that reached the DCS, as the nodes have it: it does not change with every answer.
  document["dcs_last_seen"] = Math.floor(world.wallMs(node.dcsSeenMs) / 1_000);
  document["database_system_identifier"] = world.system;
  document["patroni"] = isOld
    ? { version: "3.0.2", scope: world.scope }
    : { version: "4.1.4", scope: world.scope, name: node.name };
  return document;
}

function roleOf(world: World, node: ModelNode): string {
  if (node.role === "primary") return node.generation === 3 ? "master" : "primary";
  if (world.remote !== null && node.leadsStandby) return "standby_leader";
  return node.isDemoted ? "demoted" : "replica";
}

function addRunningFields(document: Document, world: World, node: ModelNode, nowMs: number): void {
  const isReplica = node.role === "replica";
  document["postmaster_start_time"] = startOf(world, node);
  document["server_version"] = 150_020;
  document["xlog"] = isReplica
    ? {
        received_location: node.received,
        replayed_location: node.replayed,
        replayed_timestamp: null,
        paused: node.isReplayPaused,
      }
    : { location: node.written };
  // Without a view of the DCS a node does not know that it is synchronous.
  if (isReplica && !node.leadsStandby && node.hasView && node.syncRole !== null) document[node.syncRole] = true;
  document["timeline"] = isReplica ? node.shownTimeline : node.timeline;
  const replication = isReplica && node.generation === 4 ? replicationState(node) : null;
  if (replication !== null) document["replication_state"] = replication;
  const listed = listedAt(world, node, nowMs);
  if (listed.length > 0) document["replication"] = listed.map((standby) => listedAs(world, node, standby));
}

function startOf(world: World, { startedMs }: ModelNode): string {
  if (startedMs === null) return "2026-11-21 05:45:54.028732+00:00";
  return new Date(world.wallMs(startedMs)).toISOString().replace("T", " ").replace("Z", "000+00:00");
}

function listedAs(world: World, source: ModelNode, { name, host }: ModelNode): Document {
  const { role, priority } = syncFields(world, source, name);
  return {
    usename: "replicator",
    application_name: name,
    client_addr: host,
    state: "streaming",
    sync_state: role,
    sync_priority: priority,
  };
}

/** A receiver that finds nobody to stream from has no state. */
function replicationState({ receiver, isStreaming }: ModelNode): string | null {
  if (receiver === "dead") return "in archive recovery";
  return isStreaming || receiver === "frozen" ? "streaming" : null;
}

function syncFields(
  world: World,
  source: ModelNode,
  name: string,
): { readonly role: string; readonly priority: number } {
  const { sync } = world.dcs;
  const role = sync?.leader === source.name ? syncRoleOf(world, name) : null;
  if (role === null) return { role: "async", priority: 0 };
  const priority = [...(sync?.standbys ?? [])].indexOf(name) + 1;
  return role === "sync_standby" ? { role: "sync", priority } : { role: "quorum", priority: 1 };
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
  const members = records.map((record) => {
    const { name, state, timeline, apiUrl } = record;
    const isRunning = state === "running";
    const common = {
      name,
      state: isRunning && !isOld && record.isStreaming ? "streaming" : state,
      api_url: apiUrl,
      host: world.node(name).host,
      port: 5432,
      ...(isRunning ? { timeline } : {}),
    };
    if (name === leader) return { ...common, role: world.isStandby ? "standby_leader" : "leader" };
    return { ...common, role: syncRoleOf(world, name) ?? "replica", ...lagFields(record, top, isOld) };
  });
  return { members, ...(world.dcs.isPaused ? { pause: true } : {}), ...(isOld ? {} : { scope: world.scope }) };
}

/** How far a member is behind the leader's record. What does not run has no position. */
function lagFields(
  { state, position, received, replayed }: MemberRecord,
  top: number | null,
  isOld: boolean,
): Document {
  const isKnown = state === "running";
  const lag = (at: number): number | "unknown" => (top === null || !isKnown ? "unknown" : Math.max(0, top - at));
  if (isOld) return { lag: lag(position) };
  const lsn = (at: number): string => (isKnown ? lsnOf(at) : "unknown");
  return {
    receive_lag: lag(received),
    receive_lsn: lsn(received),
    replay_lag: lag(replayed),
    replay_lsn: lsn(replayed),
    lag: lag(position),
    lsn: lsn(position),
  };
}

/** A position as PostgreSQL writes it. */
export function lsnOf(position: number): string {
  const hex = (part: number): string => part.toString(16).toUpperCase();
  return `${hex(Math.floor(position / 2 ** 32))}/${hex(position >>> 0)}`;
}

/**
 * The rows of history that a node has cached. A leader states its own history: if it was promoted from an earlier
 * timeline than the newest, that one ended where its own timeline begins.
 */
export function historyDocument(world: World, node: ModelNode): readonly unknown[] {
  const forks = world.forks.slice(0, node.historyRows);
  return forks.map(({ timeline, by, at }, row) => [
    timeline,
    Math.min(...forks.slice(row).map(({ position }) => position)),
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
    synchronous_mode: world.mode === "quorum" ? "quorum" : syncMax[world.mode] > 0,
    ...(world.dcs.isPaused ? { pause: true } : {}),
    ...(world.dcs.hasFailsafe ? { failsafe_mode: true } : {}),
    ...(world.isStandby
      ? { standby_cluster: { host: world.remote?.host, port: 5432, create_replica_methods: ["basebackup"] } }
      : {}),
    ...(world.mode === "sync-two" ? { synchronous_node_count: 2 } : {}),
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
