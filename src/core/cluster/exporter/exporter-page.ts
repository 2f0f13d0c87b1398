import type { ExporterPage, ExporterReceiver, ExporterSender } from "./exporter-report.ts";
import { readSendersMax } from "../documents/report.ts";
import { nameOf } from "../values/json.ts";
import { Samples, toNonNegativeInteger, type Sample } from "./sample.ts";
import { diskFigures } from "./disk-figures.ts";

/** pg_exporter's metric names without their prefix: `pg_` by default, `db_` with `naming: neutral`. */
const unprefixedNames = [
  "up version in_recovery is_in_recovery timestamp lsn receive_lsn replay_lsn lag is_wal_replay_paused timeline_id",
  "meta_info downstream_count repl_state repl_replay_lsn recv_state insert_lsn flush_lsn wait_count",
].flatMap((names) => names.split(" "));
/** postgres_exporter's metric names, of the stock queries of several versions. */
const postgresExporterNames = [
  "pg_replication_is_replica pg_settings_in_hot_standby pg_replication_lag_seconds pg_replication_lag pg_static",
  "pg_stat_replication_pg_current_wal_lsn_bytes pg_stat_replication_pg_wal_lsn_diff pg_exporter_last_scrape_error",
  "pg_stat_wal_receiver_flushed_lsn pg_stat_activity_count pg_database_size_bytes",
].flatMap((names) => names.split(" "));
const poolerNames = ["pgbouncer_up", "pgbouncer_exporter_up", "pgbouncer_list_items"];

/** The metric names that are read; all others are skipped. */
export const pageNames: ReadonlySet<string> = new Set([
  ...unprefixedNames.flatMap((name) => [`pg_${name}`, `db_${name}`]),
  ...postgresExporterNames,
  ...poolerNames,
]);

/**
 * Builds a page from its samples. Returns `undefined` if there are none: then it is not a page of a PostgreSQL
 * exporter.
 */
export function parseExporterPage(found: readonly Sample[]): ExporterPage | undefined {
  if (found.length === 0) return undefined;
  const samples = new Samples(found);
  const isPostgresExporter =
    samples.all("pg_exporter_last_scrape_error", "pg_static", "pg_replication_is_replica").length > 0;
  const isUp = toBoolean(samples.value("pg_up", "db_up"));
  const isInRecovery = readIsInRecovery(samples, isUp);
  const position = toNonNegativeInteger(samples.value("pg_lsn", "db_lsn"));
  return {
    family: isPostgresExporter ? "postgres_exporter" : "pg_exporter",
    isPooler: poolerNames.some((name) => samples.all(name).length > 0),
    isUp,
    isInRecovery,
    databaseTimeS: samples.value("pg_timestamp", "db_timestamp"),
    serverVersion: readServerVersion(samples),
    system: labelOf(samples, "cluster_id"),
    timeline: toNonNegativeInteger(samples.value("pg_timeline_id", "db_timeline_id")),
    written:
      isInRecovery === false
        ? (position ?? toNonNegativeInteger(samples.value("pg_stat_replication_pg_current_wal_lsn_bytes")))
        : null,
    received: toNonNegativeInteger(
      samples.value("pg_receive_lsn", "db_receive_lsn", "pg_stat_wal_receiver_flushed_lsn"),
    ),
    replayed:
      isInRecovery === true
        ? (toNonNegativeInteger(samples.value("pg_replay_lsn", "db_replay_lsn")) ?? position)
        : null,
    lagSeconds: samples.value("pg_lag", "db_lag", "pg_replication_lag_seconds", "pg_replication_lag"),
    isReplayPaused: toBoolean(samples.value("pg_is_wal_replay_paused", "db_is_wal_replay_paused")),
    senders: isPostgresExporter ? postgresExporterSenders(samples) : pgExporterSenders(samples),
    streaming: isPostgresExporter ? streamingRows(samples) : streamingCount(samples),
    receiver: readReceiver(samples),
    disk: diskFigures(samples),
    samples: samples.size,
  };
}

/**
 * Prefers the series that are absent while the database is down. `pg_in_recovery` keeps the last role then, so it
 * counts only while the database is up.
 */
function readIsInRecovery(samples: Samples, isUp: boolean | null): boolean | null {
  const exact = toBoolean(
    samples.value("pg_is_in_recovery", "db_is_in_recovery", "pg_replication_is_replica", "pg_settings_in_hot_standby"),
  );
  if (exact !== null) return exact;
  return isUp === true ? toBoolean(samples.value("pg_in_recovery", "db_in_recovery")) : null;
}

function readServerVersion(samples: Samples): number | null {
  const version = toNonNegativeInteger(samples.value("pg_version", "db_version"));
  if (version !== null && version > 0) return version;
  const parts = /^(\d{2})\.(\d+)/.exec(samples.all("pg_static")[0]?.labels.get("short_version") ?? "");
  if (parts !== null) return Number(parts[1]) * 10_000 + Number(parts[2]);
  const labelled = Number(labelOf(samples, "ver_num") ?? Number.NaN);
  return Number.isSafeInteger(labelled) && labelled > 0 ? labelled : null;
}

function labelOf(samples: Samples, label: string): string | null {
  return nameOf(samples.all("pg_meta_info", "db_meta_info")[0]?.labels.get(label));
}

/** `pg_repl_state` is 0 while streaming. The row with the same `pid` has the standby's replayed position. */
function pgExporterSenders(samples: Samples): readonly ExporterSender[] {
  const replayed = samples.all("pg_repl_replay_lsn", "db_repl_replay_lsn");
  return samples
    .all("pg_repl_state", "db_repl_state")
    .slice(0, readSendersMax)
    .flatMap(({ labels, value }) => {
      const name = nameOf(labels.get("appname"));
      const row = replayed.find((candidate) => candidate.labels.get("pid") === labels.get("pid"));
      const address = nameOf(labels.get("address")?.replace(/\/\d+$/, ""));
      return name === null
        ? []
        : [{ name, address, isStreaming: value === 0, replayed: toNonNegativeInteger(row?.value ?? null) }];
    });
}

function postgresExporterSenders(samples: Samples): readonly ExporterSender[] {
  const written = samples.value("pg_stat_replication_pg_current_wal_lsn_bytes");
  return samples
    .all("pg_stat_replication_pg_wal_lsn_diff")
    .slice(0, readSendersMax)
    .flatMap(({ labels, value }) => {
      const name = nameOf(labels.get("application_name"));
      const address = nameOf(labels.get("client_addr"));
      const replayed = written === null ? null : toNonNegativeInteger(written - value);
      return name === null ? [] : [{ name, address, isStreaming: labels.get("state") === "streaming", replayed }];
    });
}

/**
 * Counts the rows in state `streaming`. A page without rows means that no standby streams only if the last scrape had
 * no error (`pg_exporter_last_scrape_error` is 0). Otherwise the count is unknown (`null`).
 */
function streamingRows(samples: Samples): number | null {
  const rows = samples.all("pg_stat_replication_pg_wal_lsn_diff");
  if (rows.length === 0 && samples.value("pg_exporter_last_scrape_error") !== 0) return null;
  return rows.filter(({ labels }) => labels.get("state") === "streaming").length;
}

function streamingCount(samples: Samples): number | null {
  const states = samples.all("pg_downstream_count", "db_downstream_count");
  const streaming = states.find(({ labels }) => labels.get("state") === "streaming");
  return toNonNegativeInteger(streaming?.value ?? null);
}

function readReceiver(samples: Samples): ExporterReceiver | null {
  const own = samples.all("pg_recv_state", "db_recv_state")[0];
  const host = nameOf(own?.labels.get("sender_host"));
  if (own !== undefined && host !== null)
    return { host, port: portOf(own.labels.get("sender_port")), isStreaming: own.value === 0 };
  const other = samples.all("pg_stat_wal_receiver_flushed_lsn")[0];
  const upstream = nameOf(other?.labels.get("upstream_host"));
  if (other === undefined || upstream === null) return null;
  return { host: upstream, port: null, isStreaming: other.labels.get("status") === "streaming" };
}

function portOf(text: string | undefined): number | null {
  const port = Number(text);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : null;
}

function toBoolean(value: number | null): boolean | null {
  return value === 1 ? true : value === 0 ? false : null;
}
