import {
  type AuditTarget,
  lookLimitMs,
  type RouteAdvice,
  type RouteDifference,
} from "../../core/balancing/audited/audit-target.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import type { Config, PoolConfig } from "../../core/config/model/config.ts";
import type { AuditedEnvoy } from "./config/audit-schema.ts";
import { envoySource } from "./sources/envoy-source.ts";

/** How long an Envoy that no rolecall pushes to takes to follow a change, in ms: the checks of the rendered file. */
const checkedEnvoyMs = 4_000;
/**
 * The Envoys that are looked at by their admin interfaces.
 * @param pushedDelays how long Envoys may take to follow a verdict that they are sent, in ms; none: nothing sends any
 */
export function envoyTargets(config: Config, pushedDelays: readonly number[]): readonly AuditTarget[] {
  return config.audit.envoys.map((envoy) => envoyTarget(envoy, config, pushedDelays));
}

function envoyTarget(
  { name, admin, pools: mapped }: AuditedEnvoy,
  { pools }: Config,
  pushedDelays: readonly number[],
): AuditTarget {
  const pairs = mapped === null ? pools.map((pool) => [pool.name, pool.name] as const) : Object.entries(mapped);
  const audited = pairs.flatMap(([backend, wanted]) => {
    const pool = pools.find((one) => one.name === wanted);
    return pool === undefined ? [] : [{ backend, pool }];
  });
  const source = {
    admin,
    clusters: audited.map(({ backend }) => backend),
    mayLack: mapped === null,
    delayMs: pushedDelays.length === 0 ? checkedEnvoyMs : Math.max(...pushedDelays),
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
    advise: envoyAdvice(admin, pushedDelays.length > 0),
    key: JSON.stringify([source, audited]),
  };
}

function poolOf(
  backend: string,
  { cluster, check }: PoolConfig,
): Omit<AuditTarget["pools"][number], "lists" | "hasOnlyMembers"> {
  return { backend, cluster, check, isOfPrimary: isOfPrimary({ check }), servers: null, keepsSessions: true };
}

/**
 * Words for the differences of one Envoy, by the address of its admin interface.
 * @param isPushed whether its endpoints come from rolecall; otherwise they are in its file, which a restart reads again
 */
function envoyAdvice(admin: string, isPushed: boolean): (difference: RouteDifference) => RouteAdvice {
  return ({ kind, node }) => {
    if (kind === "unreachable")
      return { mechanism: `the admin interface at ${admin}`, command: `curl -s ${admin}/ready` };
    if (!isPushed)
      return {
        mechanism:
          kind === "misrouted" ? "Envoy's check of the endpoint" : "the file with Envoy's endpoints, or its check",
        command: kind === "missing" ? "rolecall render envoy --config FILE > envoy.yaml" : `curl -s ${admin}/clusters`,
      };
    const mechanism =
      kind === "misrouted" ? "rolecall's push (xDS) and Envoy's check of open sessions" : "rolecall's push (xDS)";
    // Envoy has no command for one endpoint: a restart ends all of its sessions, and reads all pools again.
    const command =
      kind === "missing" && node !== null ? `curl -s ${admin}/clusters` : `curl -sX POST ${admin}/quitquitquit`;
    return { mechanism, command };
  };
}
