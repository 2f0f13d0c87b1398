import type { RefusedClaim } from "../cluster/leadership.ts";
import { nodeNamed } from "../cluster/lookup.ts";
import type { ClusterState, Snapshot } from "../cluster/snapshot.ts";
import { isObject, listOf, nameOf } from "../cluster/values/json.ts";
import type { MonitoredCluster } from "./store.ts";

/** The most entries that are read: more than any configuration has nodes. */
const refusalsMax = 10_000;

/** A claim that an earlier run had refused beside another one (rule 2). */
export interface SavedRefusal extends Pick<RefusedClaim, "api" | "beside"> {
  readonly cluster: string;
  readonly node: string;
}

/** The marks of refused claims of a snapshot, in the form of the state file. */
export function refusalsToJson(snapshot: Snapshot): readonly object[] {
  return snapshot.clusters.flatMap(({ name, leadership }) =>
    [...leadership.refusedClaims].map(([node, { api, beside }]) => ({ cluster: name, node, api, beside })),
  );
}

/** Reads the section `refused` of a state file. Entries that cannot be read are left out. */
export function parseRefusals(section: unknown): readonly SavedRefusal[] {
  return listOf(section).slice(0, refusalsMax).flatMap(parseRefusal);
}

/** Whether the same claims are marked in two states of a cluster. */
export function hasSameRefusals({ leadership: before }: ClusterState, { leadership: after }: ClusterState): boolean {
  const [one, other] = [before.refusedClaims, after.refusedClaims];
  if (one === other) return true;
  return (
    one.size === other.size &&
    [...other].every(([node, { api, beside }]) => one.get(node)?.api === api && one.get(node)?.beside === beside)
  );
}

/** Marks claims as an earlier run had marked them. Any view of this run is newer. */
export function withSavedRefusals(
  monitored: readonly MonitoredCluster[],
  refusals: readonly SavedRefusal[],
): readonly MonitoredCluster[] {
  return monitored.map(({ cluster, policy }) => {
    const marks = refusals.filter(
      (each) => each.cluster === cluster.name && nodeNamed(cluster, each.node) !== undefined,
    );
    if (marks.length === 0) return { cluster, policy };
    const refusedClaims = new Map(marks.map(({ node, api, beside }) => [node, { api, beside, viewSentAtMs: 0 }]));
    return { policy, cluster: { ...cluster, leadership: { ...cluster.leadership, refusedClaims } } };
  });
}

function parseRefusal(value: unknown): SavedRefusal[] {
  if (!isObject(value)) return [];
  const [cluster, node] = [nameOf(value["cluster"], 128), nameOf(value["node"], 128)];
  const [api, beside] = [nameOf(value["api"]), nameOf(value["beside"], 128)];
  return cluster === null || node === null || api === null || beside === null ? [] : [{ cluster, node, api, beside }];
}
