import type { Check } from "../health/check.ts";
import { oneNodeRoutes } from "../health/route.ts";
import type { ConfigShape, PoolConfig, PoolShape, UnnamedPoolConfig } from "./model/config.ts";
import { formatHostPort, formatRuntimeAddress } from "./values/address.ts";
import { checkTextParts, parseCheckText } from "./values/check-text.ts";
import { poolCheckText } from "./values/pool-check.ts";
import { formatPoolerAddress } from "./values/pooler-address.ts";

/** Completes a pool. @returns `null` if it cannot be judged, which the checks of the configuration have refused */
export function buildPool(
  pool: PoolShape,
  only: string | null,
  { ignoreParams, probe }: Pick<ConfigShape, "ignoreParams" | "probe">,
): PoolConfig | null {
  const checkText = poolCheckText(pool);
  const parsed = parseCheckText(checkText, { ignoreParams, intervalMs: probe.intervalMs });
  const cluster = pool.cluster ?? only;
  // checkPools has refused both.
  if (!parsed.ok || cluster === null) return null;
  return { name: pool.name, cluster, check: parsed.check, checkText, weight: pool.weight };
}

/** What an entry is judged by: its own keys, or those of the pool that it refers to. */
export function judgedBy(
  entry: { readonly pool: string | null; readonly cluster: string | null; readonly check: string | null },
  only: string | null,
  shape: Pick<ConfigShape, "ignoreParams" | "probe" | "pools">,
): PoolConfig | null {
  const { pool: name, cluster, check } = entry;
  const pool = shape.pools.find((one) => one.name === name) ?? {
    name: "",
    cluster,
    check: check ?? "/primary",
    min: null,
    zones: [],
    with: [],
    weight: null,
  };
  return buildPool(pool, only, shape);
}

/**
 * The zones that a check in a HAProxy of a zone prefers.
 * @param zone that of the HAProxy, or `null`
 */
export function zonesIn(zone: string | null, { zones, route }: Pick<Check, "zones" | "route">): readonly string[] {
  return zone !== null && zones.length === 0 && !oneNodeRoutes.has(route) ? [zone] : zones;
}

/** One use of a cluster and a check without a name. */
type UnnamedUse = Pick<UnnamedPoolConfig, "cluster" | "check" | "checkText"> & {
  readonly user: UnnamedPoolConfig["users"][number];
};

/**
 * The pairs of cluster and check that backends, databases and agent listeners have without a pool. Those of the same
 * nodes are one pool, so the parameter `miss`, which only changes a status, is none of the pool.
 */
export function unnamedPools(
  shape: Pick<ConfigShape, "balancers" | "poolers" | "ignoreParams" | "probe" | "pools"> & {
    readonly listen: NonNullable<ConfigShape["listen"]>;
  },
  only: string | null,
): readonly UnnamedPoolConfig[] {
  const useOf = (
    entry: Parameters<typeof judgedBy>[0],
    user: UnnamedUse["user"],
    zone: string | null = null,
  ): readonly UnnamedUse[] => {
    const judged = entry.pool === null ? judgedBy(entry, only, shape) : null;
    if (judged === null) return [];
    const { cluster, check, checkText } = judged;
    const zones = zonesIn(zone, check);
    return [{ cluster, check: { ...check, zones }, checkText: canonicalText(checkText, check, zones), user }];
  };
  const uses = [
    ...shape.balancers.flatMap(({ name, haproxy }) =>
      haproxy.backends.flatMap((backend) =>
        useOf(
          backend,
          { kind: "haproxy", name: name ?? formatRuntimeAddress(haproxy.socket), backend: backend.name },
          haproxy.zone,
        ),
      ),
    ),
    ...shape.poolers.flatMap(({ name, pgbouncer, databases }) =>
      databases.flatMap((database) =>
        useOf(database, {
          kind: "pgbouncer",
          name: name ?? formatPoolerAddress(pgbouncer.address),
          backend: database.name,
        }),
      ),
    ),
    ...shape.listen.flatMap(({ agent, cluster, address, port }) => {
      if (agent === null || cluster === "*") return [];
      const check = `/${agent.check.route}${agent.check.query === "" ? "" : `?${agent.check.query}`}`;
      const name = formatHostPort({ host: address, port });
      return useOf({ pool: agent.pool, cluster, check }, { kind: "agent", name, backend: null });
    }),
  ];
  const groups = new Map<string, UnnamedPoolConfig>();
  for (const { cluster, check, checkText, user } of uses) {
    const name = `${cluster} ${checkText}`;
    groups.set(name, { name, cluster, check, checkText, users: [...(groups.get(name)?.users ?? []), user] });
  }
  return [...groups.values()];
}

/** The route under its own name, and the parameters that decide which nodes pass. */
function canonicalText(checkText: string, { route, zones: own }: Check, zones: readonly string[]): string {
  const written = checkTextParts(checkText).query.split("&");
  const parameters = [
    ...written.filter((parameter) => parameter !== "" && !parameter.startsWith("miss=")),
    ...(own.length === 0 && zones.length > 0 ? [`zone=${zones.join(",")}`] : []),
  ];
  return `/${route}${parameters.length === 0 ? "" : `?${parameters.join("&")}`}`;
}
