import type { ClusterState } from "./snapshot.ts";

/** One limit for the lag of a cluster's nodes, and who sets it. */
export interface LagLimit {
  /** `null`: every route. */
  readonly route: string | null;
  readonly lag_bytes: number | null;
  readonly lag_ms: number | null;
  /** How many of the least lagging nodes it leaves in (`keep=`), and whether the primary is fit if none is. */
  readonly keep: number;
  readonly fallback_primary: boolean;
  /** The zones whose nodes the check prefers; absent if it names none. */
  readonly zones?: readonly string[];
  /** The companions that the check asks for; absent if it asks for none. */
  readonly with?: readonly string[];
  /**
   * `checks`: balancers request it; `pool`, `defaults`, `agent` and `push` are configured; `failover` is the cluster's
   * own.
   */
  readonly source: LagLimitSource;
  /** Pool, listener or backend that sets it: `orders-read`, `127.0.0.1:8008` or `lb1/pg_read`. `null` for `checks` and `failover`. */
  readonly of: string | null;
  /** How long ago a check requested it, in ms; `null` for other sources. */
  readonly requested_ms_ago: number | null;
  /** How long checks have requested it again and again, in ms; `null` for other sources. */
  readonly requested_for_ms: number | null;
}

/** The sources whose limits rolecall knows from its own configuration and its checks, and not from the cluster. */
export const ownLimitSources = ["checks", "pool", "defaults", "agent", "push"] as const;

type LagLimitSource = (typeof ownLimitSources)[number] | "failover";

/** The limits that rolecall knew at one instant, without the cluster's own. */
export interface KnownLimits {
  /** When they were known, in ms since the epoch. */
  readonly atWallMs: number;
  readonly limits: readonly Pick<
    LagLimit,
    "route" | "lag_bytes" | "lag_ms" | "keep" | "fallback_primary" | "zones" | "with" | "source"
  >[];
}

/** Returns the cluster's own limit for a failover as a list: empty as long as its configuration is not known. */
export function failoverLimits({ config }: Pick<ClusterState, "config">): readonly LagLimit[] {
  if (config === null) return [];
  const limit = {
    route: null,
    lag_bytes: config.lagMaxOnFailover,
    lag_ms: null,
    keep: 0,
    fallback_primary: false,
    source: "failover",
    of: null,
  } as const;
  return [{ ...limit, requested_ms_ago: null, requested_for_ms: null }];
}
