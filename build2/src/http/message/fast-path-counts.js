export const noFastPathCounts = {
    requests: 0,
    fallbacks: { not_cached: 0, too_long: 0, slow_reader: 0, tripped: 0 },
    trips: 0,
};
/** Adds up the counts of several processes. */
export function sumFastPathCounts(counts) {
    return counts.reduce((sum, { requests, fallbacks, trips }) => ({
        requests: sum.requests + requests,
        fallbacks: {
            not_cached: sum.fallbacks.not_cached + fallbacks.not_cached,
            too_long: sum.fallbacks.too_long + fallbacks.too_long,
            slow_reader: sum.fallbacks.slow_reader + fallbacks.slow_reader,
            tripped: sum.fallbacks.tripped + fallbacks.tripped,
        },
        trips: sum.trips + trips,
    }), noFastPathCounts);
}
//# sourceMappingURL=fast-path-counts.js.map