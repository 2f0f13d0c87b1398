import { failoverLimits, type LagLimit } from "../../core/cluster/lag-limit.ts";
import { clusterNamed } from "../../core/cluster/lookup.ts";
import type { Snapshot } from "../../core/cluster/snapshot.ts";
import type { Config, ListenerConfig } from "../../core/config/model/config.ts";
import { parseCheck, type Check } from "../../core/health/check.ts";
import type { AnswerCounter } from "../../core/http/message/answer-counter.ts";
import type { RequestedLimit } from "../../core/http/message/limit-census.ts";

/** What the limits of this process are read from. */
export interface LimitSources {
  readonly counter: Pick<AnswerCounter, "limits">;
  readonly monitor: { readonly store: { readonly current: Snapshot } };
  readonly listeners: {
    /** The limits in the checks that workers received. */
    limits(): readonly RequestedLimit[];
    /** Gets the newest counts from the workers. */
    refresh(): Promise<void>;
  };
}

/** How many limits one answer names. */
const limitsMax = 50;

/**
 * Gets the newest counts of all processes.
 * @returns describes the limits that the lag of a cluster's nodes is compared with: those that checks really requested,
 *   the configured ones, and that of the cluster for a failover. The same limit of several processes is named once
 */
export async function describeLimits(
  config: Config,
  { counter, monitor, listeners }: LimitSources,
): Promise<(cluster: string) => readonly LagLimit[]> {
  await listeners.refresh();
  const requested = [...counter.limits.rows(), ...listeners.limits()];
  return (cluster) => {
    const state = clusterNamed(monitor.store.current, cluster);
    return [
      ...poolLimits(cluster, config),
      ...requestedLimits(requested.filter((limit) => limit.cluster === cluster)),
      ...config.listen.filter((listener) => [null, cluster].includes(listener.cluster)).flatMap(listenerLimits),
      ...pushLimits(cluster, config),
      ...(state === undefined ? [] : failoverLimits(state)),
    ].slice(0, limitsMax);
  };
}

/** The limits that checks of all processes requested, the newest request first. */
function requestedLimits(rows: readonly RequestedLimit[]): readonly LagLimit[] {
  const newest = new Map<string, RequestedLimit>();
  for (const row of rows) {
    const key = `${row.route} ${row.lagBytesMax} ${row.lagTimeMsMax} ${row.keep} ${row.fallbackPrimary} ${row.zones.join()} ${row.companions.join()}`;
    const known = newest.get(key);
    const forMs = Math.max(row.forMs, known?.forMs ?? 0);
    newest.set(key, known === undefined || row.agoMs < known.agoMs ? { ...row, forMs } : { ...known, forMs });
  }
  return [...newest.values()]
    .toSorted((one, other) => one.agoMs - other.agoMs)
    .map(({ route, lagBytesMax, lagTimeMsMax, keep, fallbackPrimary, zones, companions, agoMs, forMs }) => ({
      route,
      lag_bytes: lagBytesMax,
      lag_ms: lagTimeMsMax,
      keep,
      fallback_primary: fallbackPrimary,
      ...(zones.length === 0 ? {} : { zones }),
      ...(companions.length === 0 ? {} : { with: companions }),
      source: "checks",
      of: null,
      requested_ms_ago: agoMs,
      requested_for_ms: forMs,
    }));
}

/** The defaults of a health listener, which hold for every route, and the check of an agent listener. */
function listenerLimits({ dialect, address, port, defaults, agent }: ListenerConfig): readonly LagLimit[] {
  const of = `${address}:${port}`;
  if (dialect === "node") return limitOf(null, checkOf("replica", defaults), { source: "defaults", of });
  if (agent === null) return [];
  const { route, query } = agent.check;
  return limitOf(route, checkOf(route, query), { source: "agent", of });
}

/** The pools are first: their names are shown in place of the checks. */
function poolLimits(cluster: string, { pools }: Config): readonly LagLimit[] {
  return pools
    .filter((pool) => pool.cluster === cluster)
    .flatMap(({ name, check }) => limitOf(check.route, check, { source: "pool", of: name }));
}

function pushLimits(cluster: string, { balancers }: Config): readonly LagLimit[] {
  return balancers.flatMap(({ name, haproxy }) =>
    haproxy.backends
      .filter((backend) => backend.cluster === cluster)
      .flatMap(({ name: backend, check }) => limitOf(check.route, check, { source: "push", of: `${name}/${backend}` })),
  );
}

/** Parses a check of the configuration. `null` is not expected: the check was valid when it was loaded. */
function checkOf(route: Check["route"], query: string): Check | null {
  const read = parseCheck(route, query, { ignoreParams: [], ignoresUnknown: true, defaults: "", lagTimeMsMin: 0 });
  return read.ok ? read.check : null;
}

function limitOf(
  route: string | null,
  check: Check | null,
  owner: Pick<LagLimit, "source" | "of">,
): readonly LagLimit[] {
  if (check === null || (check.lagBytesMax === null && check.lagTimeMsMax === null)) return [];
  return [
    {
      route,
      lag_bytes: check.lagBytesMax,
      lag_ms: check.lagTimeMsMax,
      keep: check.keep,
      fallback_primary: check.fallbackPrimary,
      ...(check.zones.length === 0 ? {} : { zones: check.zones }),
      ...(check.companions.length === 0 ? {} : { with: check.companions }),
      ...owner,
      requested_ms_ago: null,
      requested_for_ms: null,
    },
  ];
}
