import { unknownLeadership } from "../cluster/leadership.ts";
import type { Node } from "../cluster/node.ts";
import { neverProbed, type Observation } from "../cluster/observation.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { ClusterConfig, Config, NodeConfig, ProbeConfig } from "../config/model/config.ts";
import { withNodes } from "../health/observe/membership.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import type { MonitoredCluster } from "./store.ts";

/** The heartbeat loop is asked after at a tenth of the probes' pace: the answer changes seldom and nothing is sent by it. */
export const livenessIntervalFactor = 10;

/**
 * The clusters to tend by a configuration. What is still known carries over: a node that keeps its name and address
 * keeps its evidence, a discovered one stays while the last member list has it (design.md, rule 10).
 * @param known the parts held so far, by cluster name; of the first start what the state file remembers
 */
export function buildClusters(config: Config, known: ReadonlyMap<string, ClusterState>): readonly MonitoredCluster[] {
  return config.clusters.map((cluster) => ({
    cluster: withFixedNodes(known.get(cluster.name) ?? emptyPart(cluster), cluster),
    policy: settingsOf(cluster, config.probe),
  }));
}

/** A cluster nobody has been asked about. */
export function emptyPart({ name, scope, discover }: Pick<ClusterConfig, "name" | "scope" | "discover">): ClusterState {
  return {
    name,
    scope,
    sequence: 0,
    revision: 0,
    nodes: [],
    index: new Map(),
    isMembershipKnown: discover.length === 0,
    lockClaims: [],
    leadership: unknownLeadership,
    leaderViews: new Map(),
    failedViews: new Map(),
    position: null,
    positionSamples: [],
    newestReportAtMs: -Infinity,
    drains: new Map(),
    documents: { cluster: null, config: null, history: null, failsafe: null },
    config: null,
    switchPoints: null,
  };
}

/** What a cluster is judged by. */
export function settingsOf(cluster: ClusterConfig, probe: ProbeConfig): HealthPolicy {
  return {
    guards: cluster.guards,
    maxAgeMs: probe.maxAgeMs,
    intervalMs: probe.intervalMs,
    viewMaxAgeMs: 3 * probe.clusterIntervalMs + probe.timeoutMs,
    timeoutMs: probe.timeoutMs,
    pageMaxAgeMs: 3 * probe.metricsIntervalMs + probe.timeoutMs,
    livenessMaxAgeMs: 3 * livenessIntervalFactor * probe.intervalMs + probe.timeoutMs,
    fall: probe.fall,
    rise: probe.rise,
    discovers: cluster.discover.length > 0,
    ...clearPassword(cluster),
  };
}

/** A cluster has TLS where its configuration has files for it, or any https address. */
function clearPassword({ auth, tls, discover, nodes }: ClusterConfig): Pick<HealthPolicy, "clearPasswordFor"> {
  const addresses = [...discover, ...nodes.flatMap(({ api }) => api ?? [])];
  const hasTls = tls !== null || addresses.some((address) => address.startsWith("https:"));
  return auth === null || !hasTls
    ? {}
    : { clearPasswordFor: addresses.filter((address) => address.startsWith("http:")) };
}

function withFixedNodes(state: ClusterState, cluster: ClusterConfig): ClusterState {
  const fixed = cluster.nodes.map((config) => {
    const node = nodeOf(config);
    const known = state.nodes.find((candidate) => isSameNode(candidate.node, node, cluster));
    if (known === undefined) return neverProbed(node);
    const exporter = known.node.exporter === node.exporter ? known.exporter : null;
    return {
      ...known,
      exporter,
      node: { ...node, api: known.node.api, database: node.database ?? known.node.database },
    };
  });
  const listedAtMs = Math.max(...state.nodes.map((observation) => observation.listedAtMs));
  const stays = (observation: Observation): boolean =>
    cluster.discover.length > 0 &&
    !observation.node.isFixed &&
    observation.listedAtMs === listedAtMs &&
    !fixed.some(
      ({ node }) =>
        node.name === observation.node.name ||
        node.member === observation.node.member ||
        (node.api !== null && node.api === observation.node.api),
    );
  const isSameScope = cluster.scope === null || state.scope === cluster.scope;
  const base = isSameScope ? state : emptyPart(cluster);
  const nodes = [...fixed, ...state.nodes.filter((observation) => isSameScope && stays(observation))];
  return withNodes({ ...base, isMembershipKnown: base.isMembershipKnown || cluster.discover.length === 0 }, nodes);
}

/** A node keeps its evidence while it is asked at the same address. One that has only an exporter may have turned out to have an API. */
function isSameNode(known: Node, node: Node, { discover }: ClusterConfig): boolean {
  if (known.name !== node.name) return false;
  if (node.api !== null) return known.api === node.api;
  return known.api === null ? known.exporter === node.exporter : discover.length > 0;
}

function nodeOf(config: NodeConfig): Node {
  return {
    name: config.name,
    member: config.member ?? config.name,
    isMemberFixed: config.member !== null,
    api: config.api,
    exporter: config.exporter,
    database: config.database,
    isArchiveFed: config.archiveFed,
    isFixed: true,
  };
}
