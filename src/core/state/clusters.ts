import { unreadDcs } from "../cluster/dcs.ts";
import type { Companion } from "../cluster/companion.ts";
import { emptyCluster } from "../cluster/empty-cluster.ts";
import type { Node } from "../cluster/node.ts";
import { neverProbed, type Observation } from "../cluster/observation.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { ClusterConfig, Config, NodeConfig, ProbeConfig } from "../config/model/config.ts";
import { onlyCompanions } from "../health/evidence/node/companions.ts";
import { withNodes } from "../health/observe/membership.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { withAccusations } from "./saved-accusations.ts";
import { withSavedClaims } from "./saved-claims.ts";
import { withSavedListed } from "./saved-listed.ts";
import { withSavedNames } from "./saved-names.ts";
import { withSavedRefusals } from "./saved-refusals.ts";
import type { SavedCluster } from "./saved-members.ts";
import type { SavedState } from "./saved-state.ts";
import type { MonitoredCluster, Store } from "./store.ts";

/** Liveness is probed once in so many probe intervals: the answer changes seldom, and nothing else depends on it. */
export const livenessIntervalFactor = 10;

/**
 * rolecall's clock starts at 0: from then on a restored member has a day to answer before it is forgotten (rule 10).
 */
const clockStartMs = 0;

/**
 * Builds the monitored clusters of a configuration. Known state carries over: a node that keeps its name and address
 * keeps its evidence, a discovered node stays while the last member list has it (rule 10).
 * @param known the current states by cluster name; empty at the first start
 */
export function buildClusters(
  config: Pick<Config, "clusters" | "probe">,
  known: ReadonlyMap<string, ClusterState>,
): readonly MonitoredCluster[] {
  return config.clusters.map((cluster) => ({
    cluster: withFixedNodes(known.get(cluster.name) ?? emptyCluster(cluster), cluster),
    policy: policyOf(cluster, config.probe),
  }));
}

/**
 * Has a store monitor the clusters of another configuration, as {@link buildClusters} builds them from its states. A
 * replica of the store that does the same after the same outcomes has the same snapshot.
 */
export function reconfigure(store: Store, config: Pick<Config, "clusters" | "probe">): void {
  const known = new Map(store.current.clusters.map((cluster) => [cluster.name, cluster]));
  store.replace(buildClusters(config, known));
}

/** Builds the monitored clusters of a configuration at the start of the process, from what an earlier run saved. */
export function restoreClusters(config: Config, saved: SavedState): readonly MonitoredCluster[] {
  const known = config.clusters.flatMap((cluster) => {
    const found = saved.clusters.get(cluster.name);
    return found === undefined ? [] : [[cluster.name, restoreCluster(cluster, found)] as const];
  });
  const accused = withAccusations(buildClusters(config, new Map(known)), saved.accusations);
  const claimed = withSavedClaims(withSavedRefusals(accused, saved.refusals), saved.claims);
  return withSavedListed(withSavedNames(claimed, saved.names), saved.listed);
}

/** The policy that a cluster is judged by. Limits are in ms. */
export function policyOf(cluster: ClusterConfig, probe: ProbeConfig): HealthPolicy {
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
    ...(cluster.source === null ? {} : { source: cluster.source }),
    ...(cluster.zones === null ? {} : { zoneTag: cluster.zones.tag }),
    ...(cluster.companions.length === 0 ? {} : { companions: companionsOf(cluster) }),
    configured: [...new Set([...cluster.discover, ...cluster.nodes.flatMap(({ api }) => api ?? [])])],
    ...plainHttpAddresses(cluster),
  };
}

/** The companions of a cluster's nodes, as they are judged. */
function companionsOf({ companions, nodes }: ClusterConfig): readonly Companion[] {
  return companions.map(({ name, port }) => ({
    name,
    port,
    at: new Map(
      nodes.flatMap((node) => {
        const address = node.companions[name];
        return address === undefined ? [] : [[node.name, address] as const];
      }),
    ),
  }));
}

function restoreCluster(config: ClusterConfig, { nodes, proved, incumbent }: SavedCluster): ClusterState {
  const observations = nodes.map((node): Observation => {
    const proof = proved.has(node.name) ? "settled" : "none";
    return { ...neverProbed(node), proof, listedAtMs: clockStartMs };
  });
  const state = withNodes(emptyCluster(config), observations);
  return { ...state, leadership: { ...state.leadership, incumbent } };
}

/**
 * The plain http addresses of a cluster that has a password and TLS (TLS files or any https address): only these may
 * get the password unencrypted.
 */
function plainHttpAddresses({ auth, tls, discover, nodes }: ClusterConfig): Pick<HealthPolicy, "clearPasswordFor"> {
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
      proof: "settled" as const,
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
  const known = isSameScope ? state : emptyCluster(cluster);
  const base = { ...known, dcs: cluster.dcs === null ? null : (known.dcs ?? unreadDcs) };
  const names = cluster.companions.map(({ name }) => name);
  const nodes = [...fixed, ...state.nodes.filter((observation) => isSameScope && stays(observation))].map((node) => {
    const companions = onlyCompanions(node.companions, names);
    return companions === node.companions ? node : { ...node, companions };
  });
  return withNodes({ ...base, isMembershipKnown: base.isMembershipKnown || cluster.discover.length === 0 }, nodes);
}

/**
 * A node keeps its evidence while it is probed at the same address. A node with only an exporter may have turned out to
 * have an API.
 */
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
    zone: config.zone,
    isFixed: true,
  };
}
