import type { Cluster } from "../model/cluster.ts";
import { membersOf } from "../model/cluster.ts";
import { databaseVersion, nodeVersion } from "../model/version.ts";
import { reportedLsn } from "../model/lsn.ts";
import type { SimulatedNode, NodeState } from "../model/node.ts";
import { failoverPriority } from "../model/race.ts";
import { replicationState } from "../model/replication.ts";
import type { Words } from "./vocabulary.ts";

/** The value of the state gauge for each database state (`patroni_postgres_state` of Patroni). */
const stateNumbers: Readonly<Record<NodeState, number>> = {
  "creating replica": 4,
  running: 5,
  starting: 6,
  restarting: 9,
  stopping: 11,
  stopped: 12,
};

/** A metric to render. `db:` before the name stands for the prefix of database metrics. */
type Metric = readonly [name: string, type: "gauge" | "counter", help: string, value: number | string];

/** Returns the body of `GET /metrics`: names, types and order of a 4.1.4 node, with the labels `scope` and `name`. */
export function metricsText(cluster: Cluster, node: SimulatedNode, words: Words): string {
  const labels = `{scope="${escaped(cluster.scope)}",name="${escaped(node.name)}"}`;
  return [...databaseMetrics(cluster, node), ...clusterMetrics(cluster, node)]
    .map(([name, type, help, value]) => {
      const full = name.startsWith("db:") ? `${words.databaseMetric}${name.slice(3)}` : `${words.metric}${name}`;
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${full}${labels} ${String(value)}\n`;
    })
    .join("");
}

function databaseMetrics(cluster: Cluster, node: SimulatedNode): readonly Metric[] {
  const isUp = node.state === "running";
  const isPrimary = node.role === "primary";
  const isStandby = isUp && !isPrimary;
  const listed = isStandby && node.role === "replica" && cluster.sync.includes(node.name);
  const quorum = cluster.settings.synchronousMode === "quorum";
  const streaming = replicationState(cluster, node) === "streaming";
  return [
    ["version", "gauge", "Patroni semver without periods.", paddedVersion()],
    ["db:running", "gauge", "Value is 1 if Postgres is running, 0 otherwise.", flag(isUp)],
    ["postmaster_start_time", "gauge", "Epoch seconds since Postgres started.", isUp ? node.startedAtMs / 1000 : 0],
    ["primary", "gauge", "Value is 1 if this node is the leader, 0 otherwise.", flag(isPrimary)],
    [
      "xlog_location",
      "counter",
      "Current location of the Postgres transaction log, 0 if this node is not the leader.",
      isUp && isPrimary ? reportedLsn(node.receivedLsn) : 0,
    ],
    [
      "standby_leader",
      "gauge",
      "Value is 1 if this node is the standby_leader, 0 otherwise.",
      flag(node.role === "standby_leader"),
    ],
    ["replica", "gauge", "Value is 1 if this node is a replica, 0 otherwise.", flag(node.role === "replica")],
    ["sync_standby", "gauge", "Value is 1 if this node is a sync standby, 0 otherwise.", flag(listed && !quorum)],
    ["quorum_standby", "gauge", "Value is 1 if this node is a quorum standby, 0 otherwise.", flag(listed && quorum)],
    [
      "xlog_received_location",
      "counter",
      "Current location of the received Postgres transaction log, 0 if this node is not a replica.",
      isStandby ? reportedLsn(node.receivedLsn) : 0,
    ],
    [
      "xlog_replayed_location",
      "counter",
      "Current location of the replayed Postgres transaction log, 0 if this node is not a replica.",
      isStandby ? reportedLsn(node.replayedLsn) : 0,
    ],
    [
      "xlog_replayed_timestamp",
      "gauge",
      "Current timestamp of the replayed Postgres transaction log, 0 if null.",
      isStandby ? (node.replayedAtMs ?? 0) / 1000 : 0,
    ],
    ["xlog_paused", "gauge", "Value is 1 if the Postgres xlog is paused, 0 otherwise.", 0],
    ["db:streaming", "gauge", "Value is 1 if Postgres is streaming, 0 otherwise.", flag(streaming)],
    ["db:in_archive_recovery", "gauge", "Value is 1 if Postgres is replicating from archive, 0 otherwise.", 0],
    ["db:server_version", "gauge", "Version of Postgres (if running), 0 otherwise.", isUp ? databaseVersion : 0],
  ];
}

function clusterMetrics(cluster: Cluster, node: SimulatedNode): readonly Metric[] {
  const { settings } = cluster;
  const isMember = settings.failsafeMode && membersOf(cluster).includes(node);
  return [
    [
      "cluster_unlocked",
      "gauge",
      "Value is 1 if the cluster is unlocked, 0 if locked.",
      flag(cluster.lock === undefined),
    ],
    ["failsafe_mode_is_active", "gauge", "Value is 1 if failsafe mode is active, 0 if inactive.", 0],
    [
      "failsafe_mode_enabled",
      "gauge",
      "Value is 1 if failsafe_mode is enabled, 0 otherwise.",
      flag(settings.failsafeMode),
    ],
    ["failsafe_member", "gauge", "Value is 1 if this node is a member of failsafe, 0 otherwise.", flag(isMember)],
    [
      "db:timeline",
      "gauge",
      "Postgres timeline of this node (if running), 0 otherwise.",
      node.state === "running" ? node.timeline : 0,
    ],
    [
      "dcs_last_seen",
      "gauge",
      "Epoch timestamp when DCS was last contacted successfully by Patroni.",
      Math.floor(node.lastLoopAtMs / 1000),
    ],
    [
      "pending_restart",
      "gauge",
      "Value is 1 if the node needs a restart, 0 otherwise.",
      flag(node.pendingRestart.size > 0),
    ],
    ["is_paused", "gauge", "Value is 1 if auto failover is disabled, 0 otherwise.", flag(settings.pause)],
    ["db:state", "gauge", "Numeric representation of Postgres state.", stateNumbers[node.state]],
    ["failover_priority", "gauge", "Failover priority of this node.", failoverPriority(node)],
  ];
}

/** `4.1.4` as `040104`. */
function paddedVersion(): string {
  return nodeVersion
    .split(".")
    .map((part) => part.padStart(2, "0"))
    .join("");
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}

/** Escapes a label value for the text exposition format. */
function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
