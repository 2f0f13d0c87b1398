import { type AuditTarget, doctorCommand, type RouteAdvice } from "../../../core/balancing/audited/audit-target.ts";
import { isOfPrimary } from "../../../core/balancing/pool-verdicts.ts";
import type { ListenerConfig, PoolConfig } from "../../../core/config/model/config.ts";
import { formatHostPort } from "../../../core/config/values/address.ts";
import { type LackingAcknowledgement, xdsSource } from "./xds-source.ts";

/** What the Envoys of a listener lack, in rounds of work; the listener by its name. */
export type ReadAcknowledgements = (listener: string) => Iterable<readonly LackingAcknowledgement[]>;

/** What the audit looks at of the Envoys of a listener. @returns `null`: the listener has another dialect */
export function xdsTarget(
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
    pools: served.map((pool) => ({
      backend: pool.name,
      cluster: pool.cluster,
      check: pool.check,
      isOfPrimary: isOfPrimary(pool),
      servers: null,
      lists: "none",
      hasOnlyMembers: false,
      keepsSessions: true,
    })),
    source: xdsSource(
      served.map((pool) => pool.name),
      () => acknowledgements(name),
    ),
    needsVerdicts: false,
    advise: () => xdsAdvice(name),
    key: JSON.stringify([name, served]),
  };
}

/** Words for an Envoy that does not take what it is sent. */
function xdsAdvice(listener: string): RouteAdvice {
  return { mechanism: `the stream of Envoy to ${listener}`, command: doctorCommand };
}
