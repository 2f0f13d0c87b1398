import type { Config } from "../../config/model/config.ts";
import { formatHostPort } from "../../config/values/address.ts";
import type { PoolUser } from "../../http/admin-api/pools-api.ts";
import type { BalancerStatus } from "../../push/balancer.ts";

/**
 * What refers to each pool in the configuration.
 * @param statuses what is known of the balancers that are pushed to
 */
export function poolUsers(
  { balancers, poolers, listen }: Pick<Config, "balancers" | "poolers" | "listen">,
  statuses: readonly BalancerStatus[],
): (pool: string) => readonly PoolUser[] {
  const pushed = (kind: PoolUser["kind"], name: string, backend: string): PoolUser => {
    const status = statuses.find(({ balancer }) => balancer === name);
    const servers = status?.servers.filter((server) => server.backend === backend) ?? null;
    return { kind, name, backend, up: status?.up ?? null, servers };
  };
  return (pool) => [
    ...balancers.flatMap(({ name, haproxy }) =>
      haproxy.backends.flatMap((backend) => (backend.pool === pool ? [pushed("haproxy", name, backend.name)] : [])),
    ),
    ...poolers.flatMap(({ name, databases }) =>
      databases.flatMap((database) => (database.pool === pool ? [pushed("pgbouncer", name, database.name)] : [])),
    ),
    ...listen.flatMap(({ agent, address, port }): readonly PoolUser[] =>
      agent?.pool === pool
        ? [{ kind: "agent", name: formatHostPort({ host: address, port }), backend: null, up: null, servers: null }]
        : [],
    ),
  ];
}
