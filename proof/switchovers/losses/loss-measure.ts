/** What the clients of one loss saw, and what must hold. Pure. */
import type { Acknowledged, Window } from "../load.ts";

/** How long after a loss rolecall may need until clients are held, in ms. */
const reactionMs = 100;

/** What one loss cost. Times in ms. */
export interface LossMeasure {
  readonly transactions: number;
  readonly failed: number;
  /** Transactions that ran at the loss. */
  readonly inFlight: number;
  /** Transactions that began in the 100 ms after it. */
  readonly begun: number;
  readonly longestMs: number;
  /** The failures by their errors, the most frequent first. */
  readonly errors: readonly (readonly [error: string, count: number])[];
}

/** @param lostMs when the loss struck, of the monotonic clock */
export function measureLoss({ acknowledged, failures }: Window, lostMs: number): LossMeasure {
  const all = [
    ...acknowledged.map(({ startedMs, endedMs }) => ({ startedMs, endedMs })),
    ...failures.map(({ startedMs, waitMs }) => ({ startedMs, endedMs: startedMs + waitMs })),
  ];
  const failed = failures.filter(({ startedMs, waitMs }) => startedMs + waitMs >= lostMs);
  const counts = new Map<string, number>();
  for (const { error } of failed) counts.set(error, (counts.get(error) ?? 0) + 1);
  return {
    transactions: acknowledged.length,
    failed: failed.length,
    inFlight: all.filter(({ startedMs, endedMs }) => startedMs <= lostMs && endedMs >= lostMs).length,
    begun: all.filter(({ startedMs }) => startedMs > lostMs && startedMs <= lostMs + reactionMs).length,
    longestMs: all.reduce((longest, { startedMs, endedMs }) => Math.max(longest, endedMs - startedMs), 0),
    errors: [...counts].toSorted(([, one], [, other]) => other - one),
  };
}

/** A timeline that a server has left: PostgreSQL's timeline history has one line for each. */
export interface LeftTimeline {
  readonly timeline: number;
  /** Where the next timeline begins, in bytes. */
  readonly switchedAt: number;
}

/** What the clients of one loss wrote and the primary after it need not have. */
export interface NotKept {
  /** Rows that replication may have lost in a promotion. */
  readonly byReplication: ReadonlySet<string>;
  /**
   * Rows of a timeline that is none of the primary's: an old leader took the lock back and stayed on its timeline, and
   * what was written meanwhile is gone. Patroni before 3.0.3 lets a leader do so that stood still (its pull request 2693).
   */
  readonly byReturn: ReadonlySet<string>;
}

/**
 * The rows that the primary after a loss need not have. Those of its own timeline it has. Of a timeline that it left, a
 * row is sure to be kept if a later transaction began, once it was acknowledged, before the next timeline.
 * @param current the timeline of the primary, `left` those before it
 */
export function notKept(
  acknowledged: readonly Acknowledged[],
  current: number,
  left: readonly LeftTimeline[],
): NotKept {
  const [byReplication, byReturn] = [new Set<string>(), new Set<string>()];
  const others = new Set(acknowledged.map(({ timeline }) => timeline));
  others.delete(current);
  for (const timeline of others) {
    const rows = acknowledged.filter((row) => row.timeline === timeline);
    const switchedAt = left.find((one) => one.timeline === timeline)?.switchedAt ?? null;
    const keptMs = rows.reduce(
      (latest, { position, startedMs }) =>
        switchedAt !== null && position <= switchedAt ? Math.max(latest, startedMs) : latest,
      -Infinity,
    );
    const target = switchedAt === null ? byReturn : byReplication;
    for (const { client, seq, endedMs } of rows) if (endedMs >= keptMs) target.add(rowName(client, seq));
  }
  return { byReplication, byReturn };
}

/**
 * The lines of a timeline history file.
 * @param text such as "1\t0/3000148\tno recovery target specified"
 */
export function timelinesLeft(text: string): readonly LeftTimeline[] {
  return [...text.matchAll(/^\s*(\d+)\t([0-9A-F]+)\/([0-9A-F]+)\t/gm)].map(([, timeline, high = "", low = ""]) => ({
    timeline: Number(timeline),
    switchedAt: Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16),
  }));
}

/** As the audit of the rows names one. */
export function rowName(client: number, seq: number): string {
  return `client ${client}, transaction ${seq}`;
}
