/**
 * Why a connection left the fast path for node:http. `not_cached`: its request is not a simple check. `too_long`: a
 * chunk was longer than a simple request. `slow_reader`: its peer did not take an answer at once. `tripped`: the fast
 * path is no longer used.
 */
export type FallbackReason = "not_cached" | "too_long" | "slow_reader" | "tripped";

/** What the fast path of one process did since its start, or that of several processes together. */
export interface FastPathCounts {
  /** Requests that it answered. */
  readonly requests: number;
  /** Connections that fell back to node:http. */
  readonly fallbacks: Readonly<Record<FallbackReason, number>>;
  /** Processes in which something unexpected ended the use of the fast path. */
  readonly trips: number;
}

export const noFastPathCounts: FastPathCounts = {
  requests: 0,
  fallbacks: { not_cached: 0, too_long: 0, slow_reader: 0, tripped: 0 },
  trips: 0,
};

/** Adds up the counts of several processes. */
export function sumFastPathCounts(counts: readonly FastPathCounts[]): FastPathCounts {
  return counts.reduce(
    (sum, { requests, fallbacks, trips }) => ({
      requests: sum.requests + requests,
      fallbacks: {
        not_cached: sum.fallbacks.not_cached + fallbacks.not_cached,
        too_long: sum.fallbacks.too_long + fallbacks.too_long,
        slow_reader: sum.fallbacks.slow_reader + fallbacks.slow_reader,
        tripped: sum.fallbacks.tripped + fallbacks.tripped,
      },
      trips: sum.trips + trips,
    }),
    noFastPathCounts,
  );
}
