import type { Snapshot } from "../cluster/snapshot.ts";
import { listOf, nameOf } from "../cluster/values/json.ts";
import type { MonitoredCluster } from "./store.ts";

/** The most entries that are read: more than any configuration has clusters. */
const clustersMax = 10_000;

/**
 * The clusters of which an address that a list gives has proved itself, in the form of the state file: their lists say
 * where members are, also when all listed addresses are silent after a restart (rule 10).
 */
export function listedToJson({ clusters }: Snapshot): readonly string[] {
  return clusters.flatMap(({ name, hasListedProof }) => (hasListedProof ? [name] : []));
}

/** Reads the section `listed` of a state file. Entries that cannot be read are left out. */
export function parseListed(section: unknown): readonly string[] {
  return listOf(section)
    .slice(0, clustersMax)
    .flatMap((value) => nameOf(value, 128) ?? []);
}

/** Gives clusters what an earlier run knew of their lists. */
export function withSavedListed(
  monitored: readonly MonitoredCluster[],
  listed: readonly string[],
): readonly MonitoredCluster[] {
  if (listed.length === 0) return monitored;
  const known = new Set(listed);
  return monitored.map(({ cluster, policy }) => ({
    policy,
    cluster: known.has(cluster.name) ? { ...cluster, hasListedProof: true } : cluster,
  }));
}
