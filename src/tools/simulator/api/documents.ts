import { type Cluster, modelHoldsLock, leaderOf, membersOf } from "../model/cluster.ts";
import type { SimulatorJson, SimulatorObject } from "../model/json.ts";
import { formatLsn } from "../../../core/cluster/values/lsn.ts";
import { reportedLsn } from "../model/lsn.ts";
import type { MemberKey, SimulatedNode, ScheduledRestart } from "../model/node.ts";
import { connectedStandbys, replicationState } from "../model/replication.ts";
import { formatScheduleTime, formatStatusTime } from "../model/timestamp.ts";
import { databaseVersion, nodeVersion } from "../model/version.ts";
import type { Words } from "./vocabulary.ts";

/**
 * Returns the status document of a node, the body of GET /leader and GET /patroni. Keys are in the order of real
 * nodes.
 */
export function statusDocument(cluster: Cluster, node: SimulatedNode, words: Words): SimulatorObject {
  return {
    ...databaseFields(cluster, node),
    ...(cluster.settings.pause && { pause: true }),
    ...(cluster.lock === undefined && { cluster_unlocked: true }),
    dcs_last_seen: Math.floor(node.lastLoopAtMs / 1000),
    tags: node.tags,
    database_system_identifier: cluster.systemIdentifier,
    ...pendingFields(node.pendingRestart),
    [words.product]: { version: nodeVersion, scope: cluster.scope, name: node.name },
    ...restartField(node.scheduledRestart),
  };
}

/** Returns the cluster document (`GET /cluster`), from the member keys: as old as each member's last HA loop. */
export function clusterDocument(cluster: Cluster): SimulatorObject {
  const { failover } = cluster;
  return {
    members: membersOf(cluster).flatMap((node) =>
      node.member === undefined ? [] : [memberDocument(cluster, node, node.member)],
    ),
    ...(cluster.settings.pause && { pause: true }),
    ...(failover?.scheduledAtMs !== undefined && {
      scheduled_switchover: {
        at: formatScheduleTime(failover.scheduledAtMs),
        ...(failover.leader !== undefined && { from: failover.leader }),
        ...(failover.candidate !== undefined && { to: failover.candidate }),
      },
    }),
    scope: cluster.scope,
  };
}

/**
 * Returns the body of `GET /failsafe`, members and their API addresses; `undefined` while failsafe mode is off (502).
 */
export function failsafeDocument(cluster: Cluster): SimulatorObject | undefined {
  if (!cluster.settings.failsafeMode) return undefined;
  return Object.fromEntries(membersOf(cluster).map((node) => [node.name, node.apiUrl]));
}

/**
 * Returns whether the database answers the status query. Without it the document has neither positions nor a
 * timeline.
 */
function answersQueries(node: SimulatedNode): boolean {
  return node.state === "running";
}

function databaseFields(cluster: Cluster, node: SimulatedNode): SimulatorObject {
  if (!answersQueries(node)) return { state: node.state, role: node.role };
  const standbys = connectedStandbys(cluster, node).map((standby) => senderRow(cluster, node, standby));
  const receiverState = replicationState(cluster, node);
  return {
    state: node.state,
    postmaster_start_time: formatStatusTime(node.startedAtMs),
    role: node.role,
    server_version: databaseVersion,
    xlog: node.role === "primary" ? { location: reportedLsn(node.receivedLsn) } : standbyPositions(node),
    ...(isSyncStandby(cluster, node) && { [syncField(cluster)]: true }),
    timeline: node.timeline,
    ...(receiverState !== undefined && { replication_state: receiverState }),
    ...(standbys.length > 0 && { replication: standbys }),
  };
}

function standbyPositions(node: SimulatedNode): SimulatorObject {
  return {
    received_location: reportedLsn(node.receivedLsn),
    replayed_location: reportedLsn(node.replayedLsn),
    replayed_timestamp: node.replayedAtMs === undefined ? null : formatStatusTime(node.replayedAtMs),
    paused: false,
  };
}

function senderRow(cluster: Cluster, node: SimulatedNode, standby: SimulatedNode): SimulatorObject {
  const isSync = modelHoldsLock(cluster, node) && cluster.sync.includes(standby.name);
  const syncState = cluster.settings.synchronousMode === "quorum" ? "quorum" : "sync";
  return {
    usename: "replicator",
    application_name: standby.name,
    client_addr: "127.0.0.1",
    state: "streaming",
    sync_state: isSync ? syncState : "async",
    sync_priority: isSync ? 1 : 0,
  };
}

function isSyncStandby(cluster: Cluster, node: SimulatedNode): boolean {
  return node.role === "replica" && cluster.settings.synchronousMode !== "off" && cluster.sync.includes(node.name);
}

function syncField(cluster: Cluster): "quorum_standby" | "sync_standby" {
  return cluster.settings.synchronousMode === "quorum" ? "quorum_standby" : "sync_standby";
}

function memberDocument(cluster: Cluster, node: SimulatedNode, member: MemberKey): SimulatorObject {
  const leads = leaderOf(cluster) === node;
  const role = memberRole(cluster, node, leads);
  return {
    name: node.name,
    role,
    state: (role === "leader" ? undefined : member.replicationState) ?? member.state,
    api_url: node.apiUrl,
    host: "127.0.0.1",
    port: node.databasePort,
    ...(member.timeline !== undefined && { timeline: member.timeline }),
    ...pendingFields(member.pendingRestart),
    ...restartField(member.scheduledRestart),
    tags: node.tags,
    ...(!leads && {
      ...lagFields(cluster, "receive_", member.received),
      ...lagFields(cluster, "replay_", member.replayed),
      ...lagFields(cluster, "", member.location ?? member.received),
    }),
  };
}

function memberRole(cluster: Cluster, node: SimulatedNode, leads: boolean): string {
  if (leads) return cluster.settings.standbyCluster ? "standby_leader" : "leader";
  if (cluster.settings.synchronousMode !== "off" && cluster.sync.includes(node.name)) return syncField(cluster);
  return "replica";
}

function lagFields(cluster: Cluster, prefix: string, position: number | undefined): SimulatorObject {
  if (position === undefined) return { [`${prefix}lsn`]: "unknown", [`${prefix}lag`]: "unknown" };
  const lsn = reportedLsn(position);
  return {
    [`${prefix}lag`]: Math.max(0, reportedLsn(cluster.leaderLsn) - lsn),
    [`${prefix}lsn`]: formatLsn(lsn),
  };
}

function pendingFields(pending: SimulatedNode["pendingRestart"]): SimulatorObject {
  if (pending.size === 0) return {};
  const reason = Object.fromEntries(
    [...pending].map(([name, { old_value, new_value }]): [string, SimulatorJson] => [name, { old_value, new_value }]),
  );
  return { pending_restart: true, pending_restart_reason: reason };
}

function restartField(restart: ScheduledRestart | undefined): SimulatorObject {
  return restart === undefined
    ? {}
    : { scheduled_restart: { ...restart.filters, schedule: formatScheduleTime(restart.atMs) } };
}
