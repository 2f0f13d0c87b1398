import type {
  ClusterConfig,
  Config,
  HaproxyBackendConfig,
  ListenerConfig,
  NodeConfig,
} from "../../src/core/config/model/config.ts";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import { plainCheck } from "../../src/core/health/check.ts";
import { defaultGuards, type Guards } from "../../src/core/health/guards.ts";

export const guardsOff: Guards = {
  ...defaultGuards,
  exclusivePrimary: false,
  runningPrimary: false,
  attachedReplica: false,
  sameSystem: false,
  failoverHold: false,
  demotedForMs: 0,
};

/** A backend of a HAProxy whose servers follow the nodes of cluster `demo`. Default: w, for the primary. */
export function haproxyBackendOf(parts: Partial<HaproxyBackendConfig> = {}): HaproxyBackendConfig {
  const none = { pool: null, servers: null, followMembers: null, interMs: null, weight: null };
  return { name: "w", cluster: "demo", check: plainCheck("primary"), ...none, ...parts };
}

/** A whole configuration around what a test is about: any free port, quick probes. */
export function configOf(
  parts: { readonly clusters: readonly ClusterConfig[]; readonly listen?: readonly ListenerConfig[] } & Partial<Config>,
): Config {
  return {
    probe: {
      intervalMs: 200,
      connectTimeoutMs: 500,
      timeoutMs: 1_000,
      fall: 3,
      rise: 1,
      maxAgeMs: 5_500,
      burstIntervalMs: 250,
      clusterIntervalMs: 600,
      configIntervalMs: 5_000,
      metricsIntervalMs: 500,
    },
    listen: [listenerOf({})],
    pools: [],
    unnamedPools: [],
    balancers: [],
    poolers: [],
    peers: [],
    fleet: null,
    kubernetes: null,
    hostSuffixes: [],
    ignoreParams: ["be"],
    stateFile: null,
    history: { isEnabled: true, directory: null, sizeMax: 1_000_000, ageMaxMs: 60_000 },
    drainMs: 0,
    fastPath: true,
    workers: Number(process.env["TEST_WORKERS"] ?? 0),
    exporter: { naming: "upstream", disableIntro: false, namespace: null, telemetryPath: "/metrics" },
    audit: { intervalMs: 0, envoys: [] },
    log: { level: "silent", format: "json" },
    ...parts,
  };
}

export function listenerOf(parts: Partial<ListenerConfig>): ListenerConfig {
  return {
    address: "127.0.0.1",
    port: 0,
    dialect: "node",
    cluster: null,
    node: null,
    wholeCluster: false,
    operatorPages: false,
    defaults: "",
    access: unrestrictedAccess,
    agent: null,
    xds: null,
    ...parts,
  };
}

export function clusterOf(parts: Partial<ClusterConfig>): ClusterConfig {
  return {
    name: "demo",
    scope: "demo",
    discover: [],
    nodes: [],
    tls: null,
    auth: null,
    source: null,
    dcs: null,
    zones: null,
    companions: [],
    canaries: [],
    follow: [],
    guards: defaultGuards,
    ...parts,
  };
}

export function nodeOf(parts: Pick<NodeConfig, "name"> & Partial<NodeConfig>): NodeConfig {
  return {
    member: null,
    api: null,
    exporter: null,
    database: null,
    serverName: null,
    archiveFed: false,
    companions: {},
    zone: null,
    ...parts,
  };
}
