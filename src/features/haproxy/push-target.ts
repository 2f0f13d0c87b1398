import type { PushTarget } from "../../balancing/balancer-set.ts";
import { clusterMembers, type ClusterMembers } from "../../balancing/cluster-members.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import type { BalancerConfig } from "../../config/model/config.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import { HaproxyBalancer } from "./haproxy-balancer.ts";

/** Where the members of clusters are read. */
interface Clusters {
  readonly cluster: (name: string) => ClusterState | undefined;
  readonly policy: (name: string) => HealthPolicy | undefined;
}

/** The HAProxies whose servers are pushed to. */
export function haproxyPushTargets(
  balancers: readonly BalancerConfig[],
  { cluster, policy }: Clusters,
): readonly PushTarget[] {
  const members = (name: string): ClusterMembers => clusterMembers(cluster(name), policy(name));
  return balancers.map((config) => {
    const { name: balancer, haproxy } = config;
    const pools = haproxy.backends.map(({ name: backend, cluster: of, check, servers, weight }) => ({
      balancer,
      backend,
      cluster: of,
      check,
      servers,
      cutsSessions: haproxy.cutSessions,
      weight,
    }));
    const create: PushTarget["create"] = (context) => new HaproxyBalancer(config, { ...context, members });
    return { name: balancer, key: JSON.stringify(config), pools, create };
  });
}
