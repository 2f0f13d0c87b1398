import type { Config } from "../../core/config/model/config.ts";
import { formatHostPort } from "../../core/config/values/address.ts";
import type { PoolsApiContext, PoolUser } from "../../core/http/admin-api/pools-api.ts";
import type { BalancerStatus } from "../../core/balancing/balancer.ts";

/** The pools of the configuration, and after them those without a name. */
export function servedPools({ pools, unnamedPools }: Pick<Config, "pools" | "unnamedPools">): PoolsApiContext["pools"] {
  return [
    ...pools.map((pool) => ({ ...pool, isNamed: true })),
    ...unnamedPools.map((pool) => ({ ...pool, isNamed: false })),
  ];
}

/**
 * What refers to each pool in the configuration, the Envoys that subscribe to it, and the Services that lead to it.
 * @param statuses what is known of the balancers that are pushed to
 */
export function poolUsers(
  { balancers, poolers, listen, unnamedPools }: Pick<Config, "balancers" | "poolers" | "listen" | "unnamedPools">,
  statuses: readonly BalancerStatus[],
): (pool: string) => readonly PoolUser[] {
  const userOf = ({ kind, name, backend }: Pick<PoolUser, "kind" | "name" | "backend">): PoolUser => {
    if (kind === "agent") return { kind, name, backend, up: null, servers: null };
    const status = statuses.find(({ balancer }) => balancer === name);
    const servers = status?.servers.filter((server) => server.backend === backend) ?? null;
    return { kind, name, backend, up: status?.up ?? null, servers };
  };
  const named = (pool: string): readonly Pick<PoolUser, "kind" | "name" | "backend">[] => [
    ...balancers.flatMap(({ name, haproxy: { backends } }) =>
      backends.flatMap((one) => (one.pool === pool ? [{ kind: "haproxy" as const, name, backend: one.name }] : [])),
    ),
    ...poolers.flatMap(({ name, databases }) =>
      databases.flatMap((one) => (one.pool === pool ? [{ kind: "pgbouncer" as const, name, backend: one.name }] : [])),
    ),
    ...listen.flatMap(({ agent, address, port }) =>
      agent?.pool === pool
        ? [{ kind: "agent" as const, name: formatHostPort({ host: address, port }), backend: null }]
        : [],
    ),
    ...statuses.flatMap(({ kind, balancer: name, up, servers: all }): readonly PoolUser[] => {
      const servers = all.filter(({ backend }) => backend === pool);
      return (kind === "envoy" || kind === "kubernetes") && servers.length > 0
        ? [{ kind, name, backend: null, up, servers }]
        : [];
    }),
  ];
  return (pool) => (unnamedPools.find(({ name }) => name === pool)?.users ?? named(pool)).map(userOf);
}
