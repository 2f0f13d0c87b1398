import type { BalancerConfig, Config, ListenerConfig, PoolConfig, PoolerConfig } from "../../config/model/config.ts";
import { formatHostPort, formatRuntimeAddress } from "../../config/values/address.ts";
import { formatPoolerAddress } from "../../config/values/pooler-address.ts";
import { isOfPrimary } from "../../push/pool-verdicts.ts";
import type { ReadAcknowledgements } from "../../feature/offers.ts";
import { envoyAdvice, haproxyAdvice, poolerAdvice, xdsAdvice } from "./core/advice.ts";
import type { AuditedEnvoy } from "./config/audit-schema.ts";
import type { AuditTarget } from "./route-audit.ts";
import { envoySource } from "./sources/envoy-source.ts";
import { haproxySource } from "./sources/haproxy-source.ts";
import { pgbouncerSource } from "./sources/pgbouncer-source.ts";
import { xdsSource } from "./sources/xds-source.ts";

/** How long one look at a target may take, in ms. */
const lookLimitMs = 2_000;
/** How long an Envoy that no rolecall pushes to takes to follow a change, in ms: the checks of the rendered file. */
const checkedEnvoyMs = 4_000;
/** How much longer than `cut_within` an Envoy takes that rolecall pushes to, in ms. */
const pushedEnvoyMs = 1_000;

/** The part of the configuration that targets come from. */
export type AuditedConfig = Pick<Config, "audit" | "balancers" | "poolers" | "pools" | "listen">;

/** The balancers and poolers of the configuration that are looked at. */
export function auditTargets(config: AuditedConfig, acknowledgements: ReadAcknowledgements): readonly AuditTarget[] {
  const { audit, balancers, poolers, listen } = config;
  return [
    ...balancers.map(haproxyTarget),
    ...poolers.map(poolerTarget),
    ...audit.envoys.map((envoy) => envoyTarget(envoy, config)),
    ...listen.flatMap((listener) => xdsTarget(listener, config.pools, acknowledgements) ?? []),
  ];
}

function haproxyTarget({ name, haproxy }: BalancerConfig): AuditTarget {
  const { socket, backends } = haproxy;
  return {
    name,
    program: "haproxy",
    address: formatRuntimeAddress(socket),
    pools: backends.map(({ name: backend, cluster, check, servers }) => ({
      backend,
      cluster,
      check,
      isOfPrimary: isOfPrimary({ check }),
      servers,
      lists: "all",
      hasOnlyMembers: true,
      keepsSessions: true,
    })),
    source: haproxySource(haproxy, lookLimitMs),
    needsVerdicts: true,
    advise: haproxyAdvice(socket, (backend) =>
      backends.some((one) => one.name === backend && one.followMembers !== null),
    ),
    key: JSON.stringify(haproxy),
  };
}

function poolerTarget({ name, pgbouncer, databases }: PoolerConfig): AuditTarget {
  const hasFile = (database: string): boolean => databases.some((one) => one.name === database && one.file !== null);
  const read = databases.map((database) => ({ name: database.name, hasFile: database.file !== null }));
  return {
    name,
    program: "pgbouncer",
    address: formatPoolerAddress(pgbouncer.address),
    pools: databases.map(({ name: backend, cluster, check, file }) => ({
      backend,
      cluster,
      check,
      isOfPrimary: true,
      servers: null,
      lists: "none",
      hasOnlyMembers: file !== null,
      keepsSessions: false,
    })),
    source: pgbouncerSource(pgbouncer, read, lookLimitMs),
    needsVerdicts: true,
    advise: poolerAdvice({ ...pgbouncer, hasFile }),
    key: JSON.stringify([pgbouncer, databases]),
  };
}

function envoyTarget({ name, admin, pools: mapped }: AuditedEnvoy, { pools, listen }: AuditedConfig): AuditTarget {
  const pairs = mapped === null ? pools.map((pool) => [pool.name, pool.name] as const) : Object.entries(mapped);
  const audited = pairs.flatMap(([backend, wanted]) => {
    const pool = pools.find((one) => one.name === wanted);
    return pool === undefined ? [] : [{ backend, pool }];
  });
  const cuts = listen.flatMap(({ xds }) => (xds === null ? [] : [xds.cutMs + pushedEnvoyMs]));
  const source = {
    admin,
    clusters: audited.map(({ backend }) => backend),
    mayLack: mapped === null,
    delayMs: cuts.length === 0 ? checkedEnvoyMs : Math.max(...cuts),
    limitMs: lookLimitMs,
  };
  return {
    name,
    program: "envoy",
    address: admin,
    pools: audited.map(({ backend, pool }) => ({
      ...poolOf(backend, pool),
      lists: isOfPrimary(pool) ? "all" : "fit",
      hasOnlyMembers: true,
    })),
    source: envoySource(source),
    needsVerdicts: true,
    advise: envoyAdvice(admin, cuts.length > 0),
    key: JSON.stringify([source, audited]),
  };
}

function xdsTarget(
  { address, port, xds, cluster }: ListenerConfig,
  pools: readonly PoolConfig[],
  acknowledgements: ReadAcknowledgements,
): AuditTarget | null {
  if (xds === null) return null;
  const name = `xds ${formatHostPort({ host: address, port })}`;
  const served = pools.filter((pool) => cluster === null || pool.cluster === cluster);
  return {
    name,
    program: "envoy",
    address: "its own streams",
    pools: served.map((pool) => ({ ...poolOf(pool.name, pool), lists: "none", hasOnlyMembers: false })),
    source: xdsSource(
      served.map((pool) => pool.name),
      () => acknowledgements(name),
    ),
    needsVerdicts: false,
    advise: () => xdsAdvice(name),
    key: JSON.stringify([name, served]),
  };
}

function poolOf(
  backend: string,
  { cluster, check }: PoolConfig,
): Omit<AuditTarget["pools"][number], "lists" | "hasOnlyMembers"> {
  return { backend, cluster, check, isOfPrimary: isOfPrimary({ check }), servers: null, keepsSessions: true };
}
