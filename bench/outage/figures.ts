/** The figures of pools, computed from what was recorded. Pure. */
import { median, medianInterval, type Interval } from "../statistics.ts";
import type { Attempt, LeaderChange, MeasuredPool } from "./samples.ts";

/** Reads may be this old: the limit `lag_time=10s` that rolecall renders for read pools. */
export const staleAfterMs = 10_000;

/** The figures of one pool in one event. Times are counted from the promotion, in ms. */
export interface EventFigures {
  /** To the first yes of rolecall; below 0 if it came before the promotion was seen. `null`: none, or no rolecall. */
  readonly yesMs: number | null;
  /** To the end of the first write of a new connection on the new leader. `null`: none while the event was recorded. */
  readonly writeMs: number | null;
  /** From the last write before the promotion to that one: how long writers waited in all. */
  readonly outageMs: number | null;
  /** Writes of connections that were opened after the promotion, on another node than the new leader. */
  readonly oldWrites: number;
  /** The same for sessions that were open before the event. */
  readonly oldSessionWrites: number;
  /** Sessions that were closed although their node lived and kept its role. */
  readonly needlessCuts: number;
  readonly reads: number;
  readonly readsRefused: number;
  /** Reads of data that were older than {@link staleAfterMs}. */
  readonly readsStale: number;
  readonly worstBehindMs: number;
}

/** Computes the figures of one pool in one event. */
export function figuresOf(change: LeaderChange, pool: MeasuredPool): EventFigures {
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
    oldSessionWrites: afterPromotion(
      attempts.filter(({ kind, node }) => kind === "session" && node !== null),
      change,
    ).length,
    needlessCuts: change.cuts.filter(({ pool: name, node }) => name === pool.name && !isChanged(node, change)).length,
    reads: reads.length,
    readsRefused: reads.filter(({ node }) => node === null).length,
    readsStale: reads.filter(({ behindMs }) => (behindMs ?? 0) > staleAfterMs).length,
    worstBehindMs: Math.max(0, ...reads.map(({ behindMs }) => behindMs ?? 0)),
  };
}

/** One line of the report: a pool over all events of one kind. */
export interface PoolSummary {
  readonly pool: string;
  readonly events: number;
  readonly yes: Spread | null;
  readonly write: Spread | null;
  readonly outage: Spread | null;
  /** Events in which no new connection could write on the new leader. */
  readonly withoutWrite: number;
  /** The write's delay less that of the baseline in the same event. `null` for the baseline itself. */
  readonly difference: Interval | null;
  /** Median and worst write relative to the baseline's. */
  readonly relative: { readonly median: number; readonly worst: number } | null;
  readonly oldWrites: number;
  readonly oldSessionWrites: number;
  readonly needlessCuts: number;
  readonly reads: number;
  readonly readsRefused: number;
  readonly readsStale: number;
  readonly worstBehindMs: number;
}

export interface Spread {
  readonly median: number;
  readonly worst: number;
}

/**
 * Summarises all pools over these events, which should be of one kind.
 * @param baseline the name of the pool that the others are compared with
 */
export function summaries(
  changes: readonly LeaderChange[],
  pools: readonly MeasuredPool[],
  baseline: string,
): readonly PoolSummary[] {
  const of = (pool: MeasuredPool): readonly EventFigures[] => changes.map((change) => figuresOf(change, pool));
  const base = pools.find(({ name }) => name === baseline);
  const baseFigures = base === undefined ? [] : of(base);
  return pools.map((pool) => summaryOf(pool, of(pool), pool === base ? [] : baseFigures));
}

function summaryOf(
  pool: MeasuredPool,
  figures: readonly EventFigures[],
  baseline: readonly EventFigures[],
): PoolSummary {
  const write = spread(figures.map(({ writeMs }) => writeMs));
  const baseWrite = spread(baseline.map(({ writeMs }) => writeMs));
  const differences = figures.flatMap(({ writeMs }, at) => {
    const other = baseline[at]?.writeMs ?? null;
    return writeMs === null || other === null ? [] : [writeMs - other];
  });
  const total = (key: Count): number => figures.reduce((sum, each) => sum + each[key], 0);
  return {
    pool: pool.name,
    events: figures.length,
    yes: spread(figures.map(({ yesMs }) => yesMs)),
    write,
    outage: spread(figures.map(({ outageMs }) => outageMs)),
    withoutWrite: figures.filter(({ writeMs }) => writeMs === null).length,
    difference: differences.length === 0 ? null : medianInterval(differences),
    relative:
      write === null || baseWrite === null
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

type Count = "oldWrites" | "oldSessionWrites" | "needlessCuts" | "reads" | "readsRefused" | "readsStale";

function spread(values: readonly (number | null)[]): Spread | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : { median: median(known), worst: Math.max(...known) };
}

function least(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}

/** Those that another node than the new leader executed, and that began after its promotion. */
function afterPromotion(attempts: readonly Attempt[], { to, promotedAt }: LeaderChange): readonly Attempt[] {
  return attempts.filter(({ node, startedAt }) => node !== to && startedAt > promotedAt);
}

/** The sessions of the old leader end with its server, and those of the new one may be moved to other replicas. */
function isChanged(node: string, { from, to }: LeaderChange): boolean {
  return node === from || node === to;
}
