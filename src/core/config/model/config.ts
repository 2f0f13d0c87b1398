import type * as z from "zod";
import type { Check } from "../../health/check.ts";
import type { Guards } from "../../health/guards.ts";
import type { clusterKeys } from "../schema/cluster-schema.ts";
import type { completeListener } from "../schema/listener-schema.ts";
import type { CoreSections } from "../schema/schema.ts";

/** Read-only in depth. */
export type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/**
 * The configuration as its schema gives it: what depends on other keys is not filled in. Its keys and their meaning stand
 * in config/schema/ only.
 */
export interface ConfigShape extends Frozen<CoreSections> {
  readonly clusters: readonly ClusterShape[];
  /** `null`: the default listeners. */
  readonly listen: readonly ListenerConfig[] | null;
}

/**
 * The keys that features bring at the top. A feature adds its own by declaration merging, beside its schema:
 * `declare module ".../config/model/config.ts" { interface FeatureConfigs { readonly audit: AuditConfig } }`.
 */
export interface FeatureConfigs {}

/** The same in each entry of `clusters`. */
export interface FeatureClusterConfigs {}

/** The same in each entry of `listen`, with their names in the program. */
export interface FeatureListenerConfigs {}

/** What the schema of the whole program gives: the core and each feature. */
export type WholeShape = ConfigShape & FeatureConfigs;

/** One entry of `clusters`, with relative file names and its own guards only. */
export interface ClusterShape extends Frozen<z.output<z.ZodObject<typeof clusterKeys>>>, FeatureClusterConfigs {}

/** One entry of `balancers`; its name is `null` if the key is missing. */
export type BalancerShape = ConfigShape["balancers"][number];

/** One entry of `backends`; its check is a text. */
export type BackendShape = BalancerShape["haproxy"]["backends"][number];

/** One entry of `pools`; its check is a text. */
export type PoolShape = ConfigShape["pools"][number];

/** One entry of `poolers`; its name is `null` if the key is missing. */
export type PoolerShape = ConfigShape["poolers"][number];

/** One entry of `poolers[].databases`; its check is a text. */
export type PooledDatabaseShape = PoolerShape["databases"][number];

/** The configuration, checked and complete: defaults filled in, durations in milliseconds. Frozen. */
export interface Config
  extends
    FeatureConfigs,
    Omit<ConfigShape, "clusters" | "listen" | "pools" | "balancers" | "poolers" | "follow" | "guards" | "simulator"> {
  readonly clusters: readonly ClusterConfig[];
  readonly listen: readonly ListenerConfig[];
  readonly pools: readonly PoolConfig[];
  /** The pairs of cluster and check that backends, databases and agent listeners have without a pool. */
  readonly unnamedPools: readonly UnnamedPoolConfig[];
  readonly balancers: readonly BalancerConfig[];
  readonly poolers: readonly PoolerConfig[];
}

/** Whether simple checks are answered from cached bytes (docs/operations.md); `force`: on every Node version. */
export type FastPathMode = Config["fastPath"];

/** The format of the exporter API and of the nodes' metrics on admin listeners. */
export type ExporterConfig = Config["exporter"];

/** The log. Its format is read at the start only. */
export type LogConfig = Config["log"];

/** How nodes are probed. */
export type ProbeConfig = Config["probe"];

/** One cluster: fixed nodes, seeds to discover members from, or both. File names are absolute. */
export interface ClusterConfig extends Omit<ClusterShape, "guards" | "follow"> {
  readonly guards: Guards;
  /** Where its outcomes come from, by preference; empty: from probes of its own. */
  readonly follow: readonly UpstreamConfig[];
}

/** Another rolecall whose outcomes are taken. */
export type UpstreamConfig = ConfigShape["follow"][number] & {
  /** Another process has stated its address, in a key of etcd. `mayBeHere`: it can be on this machine. */
  readonly stated?: { readonly mayBeHere: boolean };
};

/** A fixed node. */
export type NodeConfig = ClusterConfig["nodes"][number];

/** The DCS of a cluster, as Patroni uses it. */
export type DcsConfig = NonNullable<ClusterConfig["dcs"]>;

/** A user and a password: of management calls to the nodes, or of the DCS. */
export type NodeAuth = NonNullable<ClusterConfig["auth"]>;

/** TLS of connections to the nodes or to the DCS. Files are absolute paths, read again when they change. */
export type TlsFiles = NonNullable<ClusterConfig["tls"]>;

/** What is verified of a server's certificate: its chain and the server's name, or its chain alone. */
export type TlsVerification = TlsFiles["verify"];

/** A listener. `cluster`: the one that it answers for; `null`: all of them. */
export interface ListenerConfig extends Frozen<ReturnType<typeof completeListener>>, FeatureListenerConfigs {}

/** What an agent listener answers to HAProxy's agent checks. */
export type AgentConfig = NonNullable<ListenerConfig["agent"]>;

/** A check in the configuration: `/replica?lag=1MB`. The query is percent-encoded, and may be empty. */
export type ConfiguredCheck = AgentConfig["check"];

/** How the weight of a server in a read pool follows its lag and its warm-up. */
export type WeightConfig = NonNullable<AgentConfig["weight"]>;

/** A check over a cluster that has a name. */
export interface PoolConfig extends Pick<PoolShape, "name" | "weight"> {
  readonly cluster: string;
  readonly check: Check;
  /** The check as it is sent, without a node: `/replica?lag=10MB&keep=2`. */
  readonly checkText: string;
}

/** A check over a cluster without a name of its own: its name is both, `orders /replica?lag=10MB`. */
export interface UnnamedPoolConfig extends Omit<PoolConfig, "weight"> {
  readonly users: readonly {
    readonly kind: "haproxy" | "pgbouncer" | "agent";
    /** The name of the balancer or pooler, or the address of the agent listener. */
    readonly name: string;
    /** The backend, or the database; `null` for an agent listener. */
    readonly backend: string | null;
  }[];
}

/** A balancer that rolecall sends changes of verdicts to. */
export interface BalancerConfig {
  /** Its name in metrics and logs. */
  readonly name: string;
  readonly haproxy: HaproxyConfig;
}

/** An HAProxy and its Runtime API. */
export interface HaproxyConfig extends Omit<BalancerShape["haproxy"], "backends"> {
  readonly backends: readonly HaproxyBackendConfig[];
}

/** Where the Runtime API of HAProxy is: a Unix socket, by its absolute path, or a TCP address. */
export type RuntimeAddress = HaproxyConfig["socket"];

/** One backend, and the check that its servers are judged by. */
export interface HaproxyBackendConfig extends Omit<BackendShape, "cluster" | "check"> {
  readonly cluster: string;
  readonly check: Check;
}

/** A PgBouncer process, and the databases of it that lead to the clusters. */
export interface PoolerConfig extends Omit<PoolerShape, "name" | "databases"> {
  /** Its name in metrics and logs. */
  readonly name: string;
  readonly databases: readonly PooledDatabaseConfig[];
}

/** How the console of a PgBouncer is reached. Files are absolute paths. */
export type PgbouncerConfig = PoolerConfig["pgbouncer"];

/** One database of a PgBouncer, and the check of the node that it leads to. */
export interface PooledDatabaseConfig extends Omit<PooledDatabaseShape, "cluster" | "check"> {
  readonly cluster: string;
  readonly check: Check;
}

/**
 * The `simulator` section of a configuration file: a simulated cluster to run with rolecall, as the demo does. It
 * is no part of `Config`: the service never sees it. `rolecall serve` starts the simulator before the service.
 */
export type SimulatorConfig = NonNullable<ConfigShape["simulator"]>;
