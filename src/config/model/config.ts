import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Guards } from "../../health/guards.ts";
import type { Route } from "../../health/route.ts";
import type { BalancerConfig } from "./balancer-config.ts";
import type { ListenerAccess } from "./listener-access-config.ts";
import type { WeightConfig } from "./weight-config.ts";

/** The configuration, checked and complete: defaults filled in, durations in milliseconds. Frozen. */
export interface Config {
  readonly clusters: readonly ClusterConfig[];
  readonly probe: ProbeConfig;
  readonly listen: readonly ListenerConfig[];
  readonly balancers: readonly BalancerConfig[];
  /** Suffixes of Host headers: `{node}.{cluster}{suffix}` selects a node. Lower case, with the leading dot. */
  readonly hostSuffixes: readonly string[];
  /** Query parameters to ignore. */
  readonly ignoreParams: readonly string[];
  /** Absolute path of the file that keeps state across restarts, or `null`. */
  readonly stateFile: string | null;
  /** What is kept on disk of the past, or `null`. */
  readonly history: HistoryConfig | null;
  /** The key `drain`: how long requests are still answered after SIGTERM. Unrelated to drains of nodes. */
  readonly drainMs: number;
  readonly fastPath: FastPathMode;
  /**
   * Number of worker processes that answer requests; 0: none, the main process answers. `auto`: one for each processor
   * beyond the first. Read at the start only, not at a reload.
   */
  readonly workers: number | "auto";
  readonly log: LogConfig;
  readonly exporter: ExporterConfig;
}

/**
 * Whether simple checks are answered from cached bytes, without node:http (docs/fast-path.md): `true` on the Node
 * versions that the fast path was tried on, `force` on others too.
 */
export type FastPathMode = boolean | "force";

/** The format of the exporter API and of the nodes' metrics on admin listeners. */
export interface ExporterConfig {
  /** `upstream`: metrics are named `patroni_*` and `pg_*`; `neutral`: `ha_*` and `db_*`. */
  readonly naming: "upstream" | "neutral";
  /** pg_exporter's `--disable-intro`: omits up, version, in_recovery and the exporter_* group. */
  readonly disableIntro: boolean;
  /** The prefix of the metrics that `disableIntro` omits; `null`: the one of `naming`. */
  readonly namespace: string | null;
  readonly telemetryPath: string;
}

/** The history on disk: events, verdict changes and the evidence of incident files. */
export interface HistoryConfig {
  /** Absolute path. */
  readonly directory: string;
  /** Size of all its files, in bytes. */
  readonly sizeMax: number;
  /** Age at which a file is deleted. */
  readonly ageMaxMs: number;
}

export interface LogConfig {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** `auto`: pretty if stderr is a terminal. Read at the start only. */
  readonly format: "auto" | "json" | "pretty";
}

/** One cluster: fixed nodes, seeds to discover members from, or both. */
export interface ClusterConfig {
  readonly name: string;
  /** The scope that the nodes must report; `null`: the one of the first document (`--discover` without `--cluster`). */
  readonly scope: string | null;
  /** Seeds: API base addresses (`http://host:port`), tried in turn. */
  readonly discover: readonly string[];
  readonly nodes: readonly NodeConfig[];
  readonly tls: TlsFiles | null;
  /** Credentials of management calls to the nodes, or `null`. */
  readonly auth: NodeAuth | null;
  /** The name of the cluster that this standby cluster replicates from, or `null`. */
  readonly source: string | null;
  /** The DCS to watch, or `null`. */
  readonly dcs: DcsConfig | null;
  readonly guards: Guards;
}

/** The DCS of a cluster, as Patroni uses it. */
export interface DcsConfig {
  /** Base addresses of etcd members, `http://host:port` or `https://host:port`, tried in turn. */
  readonly etcd: readonly string[];
  /** Patroni's `namespace`, of the keys `{prefix}/{scope}/leader` and so on. It begins with a slash. */
  readonly prefix: string;
  /** The scope in the keys; `null`: the one of the cluster. */
  readonly scope: string | null;
  readonly tls: TlsFiles | null;
  readonly auth: NodeAuth | null;
}

/** A user and a password: of management calls to the nodes, or of the DCS. */
export interface NodeAuth {
  readonly user: string;
  /** Absolute path of a file whose first line is the password. Read again when it changes. */
  readonly passwordFile: string;
}

export interface NodeConfig {
  readonly name: string;
  /** The member name that the node must report, or `null` if any is accepted. */
  readonly member: string | null;
  /**
   * API base address, `http://host:port` or `https://host:port`, without a path; `null`: the node only has an
   * exporter.
   */
  readonly api: string | null;
  /** Exporter base address, or `null`. */
  readonly exporter: string | null;
  /** The address of the database itself, or `null` while unknown. */
  readonly database: DatabaseAddress | null;
  /** The name to verify in the certificates of its API and its exporter; `null`: that of the cluster's `tls`. */
  readonly serverName: string | null;
  /** Whether the replica is fed from a WAL archive and need not stream. */
  readonly archiveFed: boolean;
}

/** TLS of connections to the nodes or to the DCS. Files are absolute paths, read again when they change. */
export interface TlsFiles {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  /** The name to verify in the servers' certificates; `null`: the host of each address. */
  readonly serverName: string | null;
  /** `chain`: any name may be in the servers' certificates; only who signed them is verified. */
  readonly verify: TlsVerification;
}

/** What is verified of a server's certificate: its chain and the server's name, or its chain alone. */
export type TlsVerification = "full" | "chain";

/** `probe.max_age` where it is not set, in ms. */
export function defaultMaxAgeMs(intervalMs: number, timeoutMs: number): number {
  return 3 * intervalMs + timeoutMs;
}

/** How nodes are probed. */
export interface ProbeConfig {
  /** Time between two probes of a node. */
  readonly intervalMs: number;
  /** Time between two probes of a node while the leadership is about to change; at most the interval. */
  readonly burstIntervalMs: number;
  readonly connectTimeoutMs: number;
  readonly timeoutMs: number;
  /** Failed probes in a row until a node is down. */
  readonly fall: number;
  /** Answered probes in a row until it is back. */
  readonly rise: number;
  /** The maximum age of evidence. A node with older evidence is not fit. */
  readonly maxAgeMs: number;
  /** Time between two requests for the cluster document. */
  readonly clusterIntervalMs: number;
  /** Time between two requests for the dynamic configuration. */
  readonly configIntervalMs: number;
  /** Time between two requests for an exporter's metrics. */
  readonly metricsIntervalMs: number;
}

export interface ListenerConfig {
  readonly address: string;
  readonly port: number;
  /** The API served: the nodes' own, the admin API, or a database exporter's; or HAProxy's agent protocol. */
  readonly dialect: "node" | "admin" | "exporter" | "agent";
  /** The cluster that this listener answers for; `null`: all of them. */
  readonly cluster: string | null;
  /** The node that this listener answers for, or `null`. */
  readonly node: string | null;
  /** Whether a route that names no node is a check of the whole cluster. */
  readonly wholeCluster: boolean;
  /**
   * Whether a node listener also serves `/status`, `/events`, `/explain`, `/verdicts` and `/incident`; admin listeners
   * always do.
   */
  readonly operatorPages: boolean;
  readonly access: ListenerAccess;
  /** Default parameters of checks, as a query: `miss=404&lag=10MB`. */
  readonly defaults: string;
  /** What an agent listener answers; `null` for other dialects. */
  readonly agent: AgentConfig | null;
}

/** What an agent listener answers to HAProxy's agent checks. */
export interface AgentConfig {
  /** The check of a line that names only a node. */
  readonly check: ConfiguredCheck;
  /** How weights follow lag and warm-up; `null`: the weight of a fit server is 100%. */
  readonly weight: WeightConfig | null;
  /** How a server is drained for a soft no: by a weight of 0%, or by HAProxy's administrative state. */
  readonly drainBy: "weight" | "state";
}

/** A check in the configuration: `/replica?lag=1MB`. */
export interface ConfiguredCheck {
  readonly route: Route;
  /** Without `?`, percent-encoded; may be empty. */
  readonly query: string;
}
