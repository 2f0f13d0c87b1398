import type { Guards } from "../../health/guards.ts";
import type { ListenerAccess } from "./listener-access-config.ts";

/** Everything rolecall was told, checked and complete: defaults filled in, durations in milliseconds. Frozen. */
export interface Config {
  readonly clusters: readonly ClusterConfig[];
  readonly probe: ProbeConfig;
  readonly listen: readonly ListenerConfig[];
  /** Host header suffixes under which `{node}.{cluster}{suffix}` names a node; lower case, with their leading dot. */
  readonly hostSuffixes: readonly string[];
  /** Query parameters that say nothing. */
  readonly ignoreParams: readonly string[];
  /** Where discovered members are remembered over a restart, or `null`. */
  readonly stateFile: string | null;
  /** How long answers go on after SIGTERM. */
  readonly drainMs: number;
  readonly fastPath: FastPathMode;
  /** How many processes answer beside the one that probes; 0: it does both. Taken at the start alone. */
  readonly workers: number | "auto";
  readonly log: LogConfig;
  readonly exporter: ExporterConfig;
  /** The cluster simulator to run inside this process, or `null`. */
  readonly simulator: SimulatorConfig | null;
}

/**
 * Whether simple checks are answered from cached bytes, without node:http (docs/fast-path.md): `true` on the Node versions that the fast
 * path was tried on, `force` on others too.
 */
export type FastPathMode = boolean | "force";

/** What the exporter dialect, and the nodes' metrics on admin listeners, look like. */
export interface ExporterConfig {
  /** `patroni_*` and `pg_*`, or `ha_*` and `db_*`. */
  readonly naming: "upstream" | "neutral";
  /** Leaves out up, version, in_recovery and the exporter_* group. */
  readonly disableIntro: boolean;
  /** The prefix of what `disableIntro` leaves out; `null` is the naming's own. */
  readonly namespace: string | null;
  readonly telemetryPath: string;
}

export interface LogConfig {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
}

export interface SimulatorConfig {
  readonly nodes: number;
  /** Port of the first node on 127.0.0.1; the others follow. */
  readonly port: number;
}

/** One cluster: fixed nodes, seeds to discover members from, or both. */
export interface ClusterConfig {
  readonly name: string;
  /** The scope that the nodes must state; `null` takes the one of the first document answered (`--discover` without `--cluster`). */
  readonly scope: string | null;
  /** API base addresses (`http://host:port`), tried in turn. */
  readonly discover: readonly string[];
  readonly nodes: readonly NodeConfig[];
  readonly tls: TlsFiles | null;
  /** What management calls say to nodes that ask for a password, or `null`. */
  readonly auth: NodeAuth | null;
  readonly guards: Guards;
}

/** Basic authentication of management calls. The file's first line is the password; absolute path, read again when it changes. */
export interface NodeAuth {
  readonly user: string;
  readonly passwordFile: string;
}

export interface NodeConfig {
  readonly name: string;
  /** The member name that the node itself must state; `null` where the configuration does not say. */
  readonly member: string | null;
  /** API base address, `http://host:port` or `https://host:port`, without a path; `null` of a node that only has an exporter. */
  readonly api: string | null;
  /** Exporter base address, or `null`. */
  readonly exporter: string | null;
  /** Where the database itself listens, or `null` while not known. */
  readonly database: DatabaseAddress | null;
  readonly archiveFed: boolean;
}

export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
}

/** Files for TLS towards the nodes; absolute paths, read again when they change. */
export interface TlsFiles {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  readonly serverName: string | null;
}

export interface ProbeConfig {
  readonly intervalMs: number;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  readonly fall: number;
  readonly rise: number;
  readonly maxAgeMs: number;
  readonly clusterIntervalMs: number;
  readonly configIntervalMs: number;
  /** How often an exporter is asked for a page of metrics. */
  readonly metricsIntervalMs: number;
}

export interface ListenerConfig {
  readonly address: string;
  readonly port: number;
  readonly dialect: "node" | "admin" | "exporter";
  /** The cluster this listener speaks for; `null` for all of them. */
  readonly cluster: string | null;
  /** The node this listener speaks for, or `null`. */
  readonly node: string | null;
  /** Whether a route that names no node asks for the whole cluster. */
  readonly wholeCluster: boolean;
  /** Whether `/status`, `/explain`, `/verdicts` and `/incident` are answered here; admin listeners have them anyway. */
  readonly operatorPages: boolean;
  readonly access: ListenerAccess;
  /** Parameters of checks that do not give them, as a query: `miss=404&lag=10MB`. */
  readonly defaults: string;
}
