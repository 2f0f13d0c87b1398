import type { LagLimit } from "../../core/cluster/lag-limit.ts";
import { askedChecks, type AskedCheck } from "../../core/health/rules/asked-checks.ts";
import { RecentValue } from "./recent-value.ts";

type AskedOf = (cluster: string) => readonly AskedCheck[];

const noneAsked: AskedOf = () => [];

/**
 * Returns the checks with a limit for lag that balancers ask of a cluster, without waiting: as they were some seconds
 * ago.
 * @param limits gets the limits that the lag of each cluster's nodes is compared with
 * @param now milliseconds of a monotonic clock
 */
export function askedByBalancers(
  limits: () => Promise<(cluster: string) => readonly LagLimit[]>,
  now: () => number,
): AskedOf {
  const recent = new RecentValue(noneAsked, async () => keptByCluster(await limits()), now);
  return (cluster) => recent.current(cluster);
}

/** The checks of each cluster are asked for with every change of it. */
function keptByCluster(limitsOf: (cluster: string) => readonly LagLimit[]): AskedOf {
  const kept = new Map<string, readonly AskedCheck[]>();
  return (cluster) => {
    const asked = kept.get(cluster) ?? askedChecks(limitsOf(cluster));
    kept.set(cluster, asked);
    return asked;
  };
}
