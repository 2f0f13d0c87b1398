import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import { isObject, listOf, nameOf } from "../cluster/values/json.ts";
import type { MonitoredCluster } from "./store.ts";

/** The most entries that are read: more than any configuration has nodes. */
const namesMax = 10_000;

/** A node without an API that a sender list has named (rule 5): its absence from later lists counts. */
export interface SavedName {
  readonly cluster: string;
  readonly node: string;
  /** The address of its exporter: another database may have taken the name since. */
  readonly exporter: string;
}

/** The named nodes of a snapshot, in the form of the state file. */
export function namesToJson(snapshot: Snapshot): readonly SavedName[] {
  return snapshot.clusters.flatMap(({ name, nodes }) =>
    nodes.flatMap(({ node, isNamed }) =>
      isNamed && node.exporter !== null ? [{ cluster: name, node: node.name, exporter: node.exporter }] : [],
    ),
  );
}

/** Reads the section `named` of a state file. Entries that cannot be read are left out. */
export function parseNames(section: unknown): readonly SavedName[] {
  return listOf(section)
    .slice(0, namesMax)
    .flatMap((value) => {
      if (!isObject(value)) return [];
      const [cluster, node] = [nameOf(value["cluster"], 128), nameOf(value["node"], 128)];
      const exporter = nameOf(value["exporter"]);
      return cluster === null || node === null || exporter === null ? [] : [{ cluster, node, exporter }];
    });
}

/** Whether the same nodes are named in two states of a cluster with equally many nodes. */
export function hasSameNames(before: ClusterState, after: ClusterState): boolean {
  return after.nodes.every(({ isNamed }, at) => before.nodes[at]?.isNamed === isNamed);
}

/** Gives nodes without an API what an earlier run knew of them. */
export function withSavedNames(
  monitored: readonly MonitoredCluster[],
  names: readonly SavedName[],
): readonly MonitoredCluster[] {
  if (names.length === 0) return monitored;
  const known = new Set(names.map(keyOf));
  return monitored.map(({ cluster, policy }) => ({
    policy,
    cluster: {
      ...cluster,
      nodes: cluster.nodes.map((observation) => {
        const { name: node, api, exporter } = observation.node;
        const isNamed =
          api === null && exporter !== null && known.has(keyOf({ cluster: cluster.name, node, exporter }));
        return isNamed ? { ...observation, isNamed } : observation;
      }),
    },
  }));
}

function keyOf({ cluster, node, exporter }: SavedName): string {
  return JSON.stringify([cluster, node, exporter]);
}
