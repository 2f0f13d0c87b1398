import { countOf, isObject } from "../../cluster/values/json.ts";
import { priorityInFailover } from "../../cluster/values/tags.ts";
import type { NodeSeries } from "./node-series.ts";
import { sampleLine, type Family } from "../../exposition/writer.ts";

/** The number of each database state (`patroni_postgres_state` of Patroni). */
const stateNumbers: ReadonlyMap<string, number> = new Map(
  [
    "initializing new cluster,initdb failed,running custom bootstrap script,custom bootstrap failed,creating replica",
    "running,starting,starting after custom bootstrap,start failed,restarting,restart failed",
    "stopping,stopped,stop failed,crashed",
  ]
    .flatMap((names) => names.split(","))
    .map((name, number) => [name, number]),
);

/**
 * One of the metrics that nodes have. `db:` stands for the prefix of the database. An unknown value is `null` and has
 * no sample.
 */
interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  /** Default: gauge */
  readonly type?: Family["type"];
  readonly value: (series: NodeSeries, document: NonNullable<NodeSeries["freshDocument"]>) => number | null;
}

/**
 * The metrics that nodes have (`GET /metrics` of Patroni), of every node, from the documents in memory. Positions
 * are counters by nature but written as untyped, because a counter's name must end with `_total` to pass `promtool
 * check metrics`.
 */
export function managerFamilies(nodes: readonly NodeSeries[], naming: "upstream" | "neutral"): readonly Family[] {
  const [manager, database] = naming === "upstream" ? ["patroni_", "patroni_postgres_"] : ["ha_", "ha_db_"];
  return definitions.map(({ name, help, type = "gauge", value }): Family => {
    const full = name.startsWith("db:") ? `${database}${name.slice(3)}` : `${manager}${name}`;
    return { name: full, type, help, samples: () => samplesOf(full, nodes, value) };
  });
}

function* samplesOf(name: string, nodes: readonly NodeSeries[], valueOf: MetricDefinition["value"]): Iterable<string> {
  for (const series of nodes) {
    const value = series.freshDocument === null ? null : valueOf(series, series.freshDocument);
    yield value === null ? "" : sampleLine(name, series.nodeMetricLabels, value);
  }
}

const isReplica = ({ observation }: NodeSeries): boolean => observation.report?.role === "replica";
const isRunning = ({ observation }: NodeSeries): boolean => observation.report?.state === "running";
/** Values that only a cluster manager knows: a node without one has no sample. */
const managed = (series: NodeSeries, value: number | null): number | null =>
  series.observation.node.api === null ? null : value;

const definitions: readonly MetricDefinition[] = [
  {
    name: "version",
    help: "Version of the cluster manager without periods.",
    value: ({ observation }) => versionNumber(observation.report?.version),
  },
  { name: "db:running", help: "1 if the database runs, else 0.", value: (series) => flag(isRunning(series)) },
  {
    name: "postmaster_start_time",
    help: "Epoch seconds of the database's start.",
    value: (_, document) => epochSeconds(document["postmaster_start_time"]),
  },
  {
    name: "primary",
    help: "1 if this node is the leader, else 0.",
    value: ({ view, observation: { node, report } }) =>
      flag(view.lock.holder === node.name && report?.role === "primary"),
  },
  {
    name: "xlog_location",
    help: "Current location of the transaction log, 0 if this node is not the leader.",
    type: "untyped",
    value: ({ observation: { report } }) => (report?.role === "primary" ? report.location : 0),
  },
  {
    name: "standby_leader",
    help: "1 if this node is the leader of a standby cluster, else 0.",
    value: ({ observation }) => flag(observation.report?.role === "standby_leader"),
  },
  { name: "replica", help: "1 if this node is a replica, else 0.", value: (series) => flag(isReplica(series)) },
  {
    name: "sync_standby",
    help: "1 if this node is a synchronous standby, else 0.",
    value: (series) => managed(series, flag(series.observation.report?.isSyncStandby === true)),
  },
  {
    name: "quorum_standby",
    help: "1 if this node is a quorum standby, else 0.",
    value: (series) => managed(series, flag(series.observation.report?.isQuorumStandby === true)),
  },
  {
    name: "xlog_received_location",
    help: "Current location of the received transaction log, 0 if this node is not a replica.",
    type: "untyped",
    value: ({ observation: { report } }) => (report?.role === "primary" ? 0 : (report?.received ?? null)),
  },
  {
    name: "xlog_replayed_location",
    help: "Current location of the replayed transaction log, 0 if this node is not a replica.",
    type: "untyped",
    value: ({ observation: { report } }) => (report?.role === "primary" ? 0 : (report?.replayed ?? null)),
  },
  {
    name: "xlog_replayed_timestamp",
    help: "Timestamp of the replayed transaction log in epoch seconds, 0 if null.",
    value: (series, document) => managed(series, epochSeconds(xlogOf(document)["replayed_timestamp"]) ?? 0),
  },
  {
    name: "xlog_paused",
    help: "1 if replay of the transaction log is paused, else 0.",
    value: ({ observation }, document) => {
      const isPaused = observation.exporter?.page?.isReplayPaused ?? null;
      if (observation.node.api === null) return isPaused === null ? null : flag(isPaused);
      return flag(xlogOf(document)["paused"] === true);
    },
  },
  {
    name: "db:streaming",
    help: "1 if the database streams, else 0.",
    value: ({ observation }) => flag(observation.report?.replicationState === "streaming"),
  },
  {
    name: "db:in_archive_recovery",
    help: "1 if the database replicates from an archive, else 0.",
    value: (series) => managed(series, flag(series.observation.report?.replicationState === "in archive recovery")),
  },
  {
    name: "db:server_version",
    help: "Version of the database if it runs, else 0.",
    value: (series, document) => (isRunning(series) ? countOf(document["server_version"]) : 0),
  },
  {
    name: "cluster_unlocked",
    help: "1 if the cluster is unlocked, 0 if locked.",
    value: (series, document) => managed(series, flag(document["cluster_unlocked"] === true)),
  },
  {
    name: "failsafe_mode_is_active",
    help: "1 if failsafe mode is active, else 0.",
    value: (series, document) => managed(series, flag(document["failsafe_mode_is_active"] === true)),
  },
  {
    name: "failsafe_mode_enabled",
    help: "1 if failsafe mode is enabled, else 0.",
    value: ({ cluster }) => (cluster.isFailsafeEnabled === null ? null : flag(cluster.isFailsafeEnabled)),
  },
  {
    name: "failsafe_member",
    help: "1 if this node is a member of failsafe, else 0.",
    value: ({ cluster, observation: { node } }) =>
      cluster.failsafeMembers === null ? null : flag(cluster.failsafeMembers.has(node.member)),
  },
  {
    name: "db:timeline",
    help: "Timeline of the database if it runs, else 0.",
    value: (series, document) => (isRunning(series) ? countOf(document["timeline"]) : 0),
  },
  {
    name: "dcs_last_seen",
    help: "Epoch seconds of the last successful contact with the configuration store.",
    value: (_, document) => countOf(document["dcs_last_seen"]),
  },
  {
    name: "pending_restart",
    help: "1 if the node needs a restart, else 0.",
    value: (series, document) => managed(series, flag(document["pending_restart"] === true)),
  },
  {
    name: "is_paused",
    help: "1 if automatic failover is disabled, else 0.",
    value: (series, document) => managed(series, flag(document["pause"] === true)),
  },
  {
    name: "db:state",
    help: "Number of the database's state.",
    value: ({ observation }) => stateNumbers.get(observation.report?.state ?? "") ?? null,
  },
  {
    name: "failover_priority",
    help: "Failover priority of this node.",
    value: (series) => managed(series, priorityOf(series)),
  },
];

/** Converts `4.1.4` to 40104. */
function versionNumber(version: string | null | undefined): number | null {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(version ?? "");
  return parts === null ? null : Number(parts[1]) * 10_000 + Number(parts[2]) * 100 + Number(parts[3]);
}

/** Reads `2026-11-21 06:29:02.123456+00:00`. */
function epochSeconds(value: unknown): number | null {
  const ms = typeof value === "string" ? Date.parse(value.replace(" ", "T")) : Number.NaN;
  return Number.isNaN(ms) ? null : ms / 1000;
}

function priorityOf({ observation: { report } }: NodeSeries): number | null {
  return report === null ? null : priorityInFailover(report.tags);
}

function xlogOf(document: NonNullable<NodeSeries["freshDocument"]>): { readonly [key: string]: unknown } {
  return isObject(document["xlog"]) ? document["xlog"] : {};
}

function flag(value: boolean): number {
  return value ? 1 : 0;
}
