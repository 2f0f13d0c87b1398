import { isRegular } from "../../cluster/asked-node.ts";
import type { LagLimit } from "../../cluster/lag-limit.ts";
import type { Observation } from "../../cluster/observation.ts";
import { formatByteSize, parseByteSize } from "../../cluster/values/byte-size.ts";
import { plainCheck, type Check } from "../check.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import type { Reason } from "../reason.ts";
import { routeOf } from "../route.ts";
import { judgeMember } from "./pool.ts";
import { isForReplicas } from "./route-rules.ts";

/** A check with a limit for lag that balancers really send, or that is configured for them. */
export interface AskedCheck {
  /** As a balancer would write it: `/replica?lag=10MB`. */
  readonly text: string;
  readonly check: Check;
  /** The name of the pool whose check it is; `null`: no pool has it. */
  readonly pool: string | null;
}

/** An asked check that refuses a node for its lag. */
export interface RefusedCheck {
  readonly check: string;
  /** The name of the pool whose check it is; `null`: no pool has it. */
  readonly pool: string | null;
  readonly reason: Reason;
  /** The figure that exceeds the limit; `null` if it is unknown. */
  readonly detail: string | null;
}

/** How many different checks are shown at most. Requests may state any limit. */
const checksMax = 8;

/** A check counts as a balancer's once it was requested again and again for so long, in ms: no trial by hand is. */
const regularMs = 15_000;

/** Returns the different checks of replicas behind a list of limits, in its order. */
export function askedChecks(limits: readonly LagLimit[]): readonly AskedCheck[] {
  const asked = new Map<string, AskedCheck>();
  for (const limit of limits) {
    const {
      route,
      lag_bytes: lagBytesMax,
      lag_ms: lagTimeMsMax,
      keep,
      fallback_primary: fallbackPrimary,
      zones = [],
      with: companions = [],
      source,
    } = limit;
    const asksFor = routeOf(route ?? "replica");
    if (source === "checks" && !isBalancers(limit)) continue;
    if (source === "failover" || asksFor === undefined || !isForReplicas(asksFor)) continue;
    const parameters = { lagBytesMax, lagTimeMsMax, keep, fallbackPrimary, zones, companions };
    const check: Check = { ...plainCheck(asksFor), ...parameters };
    const text = textOf(check);
    const pool = source === "pool" ? limit.of : null;
    if (asked.size < checksMax && !asked.has(text)) asked.set(text, { text, check, pool });
  }
  return [...asked.values()];
}

/** A recording does not state how often a check was requested. */
function isBalancers({ requested_ms_ago: agoMs, requested_for_ms: forMs }: LagLimit): boolean {
  return agoMs === null || forMs === null || isRegular({ agoMs, forMs }, regularMs);
}

/** Returns the asked checks that refuse a node for its lag alone. Other reasons are those of the plain check. */
export function refusedChecks(
  view: ClusterView,
  observation: Observation,
  asked: readonly AskedCheck[],
): readonly RefusedCheck[] {
  return asked.flatMap(({ text, check, pool }) => {
    const verdict = judgeMember(view, observation, check);
    if (verdict.fit || (verdict.reason !== "lagging" && verdict.reason !== "lag_unknown")) return [];
    return [{ check: text, pool, reason: verdict.reason, detail: verdict.figure }];
  });
}

function textOf({ route, lagBytesMax, lagTimeMsMax, keep, fallbackPrimary, zones, companions }: Check): string {
  const limits = [
    ...(lagBytesMax === null ? [] : [`lag=${bytesText(lagBytesMax)}`]),
    ...(lagTimeMsMax === null
      ? []
      : [`lag_time=${lagTimeMsMax % 1000 === 0 ? `${lagTimeMsMax / 1000}s` : `${lagTimeMsMax}ms`}`]),
    ...(keep === 0 ? [] : [`keep=${keep}`]),
    ...(fallbackPrimary ? ["fallback=primary"] : []),
    ...(zones.length === 0 ? [] : [`zone=${zones.join(",")}`]),
    ...(companions.length === 0 ? [] : [`with=${companions.join(",")}`]),
  ];
  return `/${route}?${limits.join("&")}`;
}

/** With a unit where that is exact. */
function bytesText(bytes: number): string {
  const text = formatByteSize(bytes);
  return parseByteSize(text) === bytes ? text : String(bytes);
}
