/** The figures of pools, computed from what was recorded. Pure. */
import { median, medianInterval } from "../statistics.js";
/** Reads may be this old: the limit `lag_time=10s` that rolecall renders for read pools. */
export const staleAfterMs = 10_000;
/** Computes the figures of one pool in one event. */
export function figuresOf(change, pool) {
    const attempts = change.attempts.filter((attempt) => attempt.pool === pool.name);
    const writes = attempts.filter(({ kind, node }) => kind === "write" && node !== null);
    const reads = attempts.filter(({ kind }) => kind === "read");
    const first = least(writes.filter(({ node }) => node === change.to).map(({ endedAt }) => endedAt));
    const before = writes.filter(({ endedAt }) => endedAt < change.promotedAt && endedAt < (first ?? Infinity));
    const last = before.length === 0 ? null : Math.max(...before.map(({ endedAt }) => endedAt));
    const yesAt = pool.edge === null ? undefined : change.yesAt[pool.edge];
    return {
        yesMs: yesAt === undefined ? null : yesAt - change.promotedAt,
        writeMs: first === null ? null : first - change.promotedAt,
        outageMs: first === null || last === null ? null : first - last,
        oldWrites: afterPromotion(writes, change).length,
        oldSessionWrites: afterPromotion(attempts.filter(({ kind, node }) => kind === "session" && node !== null), change).length,
        needlessCuts: change.cuts.filter(({ pool: name, node }) => name === pool.name && !isChanged(node, change)).length,
        reads: reads.length,
        readsRefused: reads.filter(({ node }) => node === null).length,
        readsStale: reads.filter(({ behindMs }) => (behindMs ?? 0) > staleAfterMs).length,
        worstBehindMs: Math.max(0, ...reads.map(({ behindMs }) => behindMs ?? 0)),
    };
}
/**
 * Summarises all pools over these events, which should be of one kind.
 * @param baseline the name of the pool that the others are compared with
 */
export function summaries(changes, pools, baseline) {
    const of = (pool) => changes.map((change) => figuresOf(change, pool));
    const base = pools.find(({ name }) => name === baseline);
    const baseFigures = base === undefined ? [] : of(base);
    return pools.map((pool) => summaryOf(pool, of(pool), pool === base ? [] : baseFigures));
}
function summaryOf(pool, figures, baseline) {
    const write = spread(figures.map(({ writeMs }) => writeMs));
    const baseWrite = spread(baseline.map(({ writeMs }) => writeMs));
    const differences = figures.flatMap(({ writeMs }, at) => {
        const other = baseline[at]?.writeMs ?? null;
        return writeMs === null || other === null ? [] : [writeMs - other];
    });
    const total = (key) => figures.reduce((sum, each) => sum + each[key], 0);
    return {
        pool: pool.name,
        events: figures.length,
        yes: spread(figures.map(({ yesMs }) => yesMs)),
        write,
        outage: spread(figures.map(({ outageMs }) => outageMs)),
        withoutWrite: figures.filter(({ writeMs }) => writeMs === null).length,
        difference: differences.length === 0 ? null : medianInterval(differences),
        relative: write === null || baseWrite === null
            ? null
            : { median: write.median / baseWrite.median, worst: write.worst / baseWrite.worst },
        oldWrites: total("oldWrites"),
        oldSessionWrites: total("oldSessionWrites"),
        needlessCuts: total("needlessCuts"),
        reads: total("reads"),
        readsRefused: total("readsRefused"),
        readsStale: total("readsStale"),
        worstBehindMs: Math.max(0, ...figures.map(({ worstBehindMs }) => worstBehindMs)),
    };
}
function spread(values) {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? null : { median: median(known), worst: Math.max(...known) };
}
function least(values) {
    return values.length === 0 ? null : Math.min(...values);
}
/** Those that another node than the new leader executed, and that began after its promotion. */
function afterPromotion(attempts, { to, promotedAt }) {
    return attempts.filter(({ node, startedAt }) => node !== to && startedAt > promotedAt);
}
/** The sessions of the old leader end with its server, and those of the new one may be moved to other replicas. */
function isChanged(node, { from, to }) {
    return node === from || node === to;
}
//# sourceMappingURL=figures.js.map