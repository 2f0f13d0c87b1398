import type { FindPushTargets, PushTarget } from "../../core/balancing/balancer-set.ts";
import { clusterMembers, type ClusterMembers } from "../../core/balancing/cluster-members.ts";
import { HaproxyBalancer } from "./haproxy-balancer.ts";

/** The HAProxies whose servers are pushed to. */
export const haproxyPushTargets: FindPushTargets = ({ balancers }, { cluster, policy }) => {
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
};
