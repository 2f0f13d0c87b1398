import type { ClusterState } from "../../cluster/snapshot.ts";

/**
 * Gives a standby cluster the present state of its source (rule 4). Its verdicts change if those of the source could.
 * @param source the state of the cluster that its policy names; `null` if it names none, or one that is not monitored
 */
export function withSource(cluster: ClusterState, source: ClusterState | null): ClusterState {
  if (cluster.source === source) return cluster;
  const isSame = source !== null && cluster.source?.revision === source.revision;
  return { ...cluster, source, revision: isSame ? cluster.revision : cluster.revision + 1 };
}
