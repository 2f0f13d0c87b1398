import { ownLimitSources, type KnownLimits } from "../../cluster/lag-limit.ts";
import { routes } from "../../health/route.ts";
import type { Reading } from "./reading.ts";

/** How many limits a file may state. A recorded file states fewer. */
const limitsMax = 100;

/**
 * Reads the limits for lag that an incident file states. `known` is the time at which rolecall had these limits. No
 * verdict depends on them: they are only shown.
 */
export function limitsOf(section: Reading): KnownLimits {
  const value = section.mapping(["known", "lag"]);
  const limits = value("lag").list();
  if (limits.length > limitsMax) throw value("lag").refusal(`a list of at most ${limitsMax} limits`);
  return { atWallMs: value("known").wallTime(), limits: limits.map(limitOf) };
}

function limitOf(section: Reading): KnownLimits["limits"][number] {
  const value = section.mapping(["source", "route", "lag_bytes", "lag_ms"]);
  const figure = (key: string): number | null => (value(key).isAbsent ? null : value(key).count(0));
  const [lagBytes, lagMs] = [figure("lag_bytes"), figure("lag_ms")];
  if (lagBytes === null && lagMs === null) throw section.refusal("a limit with lag_bytes, lag_ms or both");
  return {
    source: value("source").oneOf(ownLimitSources),
    route: value("route").isAbsent ? null : value("route").oneOf(routes),
    lag_bytes: lagBytes,
    lag_ms: lagMs,
  };
}
