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

/**
 * The rows that replication may have lost in a promotion: acknowledged on the old timeline, and not sure to be before the
 * point where the new one begins. A row is sure to be if a later transaction began, once it was acknowledged, before that
 * point.
 * @param switchedAt where the new timeline begins, in bytes
 */
export function mayBeLost(
  acknowledged: readonly Acknowledged[],
  oldTimeline: number,
  switchedAt: number,
): ReadonlySet<string> {
  const own = acknowledged.filter(({ timeline }) => timeline <= oldTimeline);
  const keptMs = own.reduce(
    (latest, { position, startedMs }) => (position <= switchedAt ? Math.max(latest, startedMs) : latest),
    -Infinity,
  );
  return new Set(own.filter(({ endedMs }) => endedMs >= keptMs).map(({ client, seq }) => rowName(client, seq)));
}

/** As the audit of the rows names one. */
export function rowName(client: number, seq: number): string {
  return `client ${client}, transaction ${seq}`;
}
