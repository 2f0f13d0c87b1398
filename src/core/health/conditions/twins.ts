import type { ClusterState } from "../../cluster/snapshot.ts";
import { type ClusterView, viewAt } from "../evidence/leadership/cluster-view.ts";
import type { HealthPolicy } from "../health-policy.ts";
import { primaryOf, type TwinFacts } from "./cluster-facts.ts";

/** The other clusters of the primary's database system that have a primary too. */
export type FindTwins = (view: ClusterView) => readonly TwinFacts[];

/**
 * Looks for clusters of one database system. Nearly every system is that of one cluster, which is compared with no other.
 * @param policyOf the policy of each cluster; one without a policy is left out
 */
export function findTwinsAmong(
  clusters: readonly ClusterState[],
  policyOf: (cluster: string) => HealthPolicy | undefined,
): FindTwins {
  const bySystem = new Map<string, Set<ClusterState>>();
  for (const cluster of clusters)
    for (const { report } of cluster.nodes) {
      if (report === null || report.system === null) continue;
      const known = bySystem.get(report.system);
      if (known === undefined) bySystem.set(report.system, new Set([cluster]));
      else known.add(cluster);
    }
  return (view) => {
    const { name, nodes } = view.cluster;
    const shared = nodes.some(({ report }) => (bySystem.get(report?.system ?? "")?.size ?? 0) > 1);
    const primary = shared ? primaryOf(view) : null;
    if (primary === null || primary.isStandbyLeader || primary.system === null) return [];
    return [...(bySystem.get(primary.system) ?? [])].flatMap((cluster) => {
      const policy = cluster.name === name ? undefined : policyOf(cluster.name);
      const other = policy === undefined ? null : primaryOf(viewAt(cluster, policy, view.nowMs));
      return other === null || other.isStandbyLeader || other.system !== primary.system
        ? []
        : [{ cluster: cluster.name, primary: other.node }];
    });
  };
}
