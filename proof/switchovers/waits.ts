/** What the clients of a switchover saw. Pure. */
import type { Acknowledged, Window } from "./load.ts";

/** The longest wait of a client, from sending until the answer. */
export interface Wait {
  readonly client: number;
  readonly waitMs: number;
}

/** The longest wait; none if nothing was acknowledged or failed. */
export function worstWait({ acknowledged, failures }: Window): Wait {
  let worst: Wait = { client: -1, waitMs: 0 };
  for (const { client, startedMs, endedMs } of acknowledged)
    if (endedMs - startedMs > worst.waitMs) worst = { client, waitMs: endedMs - startedMs };
  for (const { client, waitMs } of failures) if (waitMs > worst.waitMs) worst = { client, waitMs };
  return worst;
}

/**
 * Writes that another server acknowledged although the new primary had already acknowledged one when they were sent.
 * @param server the port of the new primary
 */
export function staleWrites(acknowledged: readonly Acknowledged[], server: number): readonly Acknowledged[] {
  const own = acknowledged.filter((one) => one.server === server).map(({ endedMs }) => endedMs);
  const firstMs = own.reduce((least, one) => Math.min(least, one), Infinity);
  return acknowledged.filter((one) => one.server !== server && one.startedMs > firstMs);
}

/**
 * Writes that were taken on an older timeline although one of a newer timeline had been acknowledged when they were
 * sent; and those of a second server on one timeline. Each shows two primaries at a time.
 */
export function writesOfOldPrimaries(acknowledged: readonly Acknowledged[]): readonly Acknowledged[] {
  const ended = acknowledged.toSorted((one, other) => one.endedMs - other.endedMs);
  const owners = new Map<number, number>();
  for (const { timeline, server } of ended) if (!owners.has(timeline)) owners.set(timeline, server);
  let [next, newest] = [0, 0];
  return acknowledged
    .toSorted((one, other) => one.startedMs - other.startedMs)
    .filter(({ startedMs, timeline, server }) => {
      for (let one = ended[next]; one !== undefined && one.endedMs < startedMs; one = ended[next]) {
        newest = Math.max(newest, one.timeline);
        next += 1;
      }
      return timeline < newest || owners.get(timeline) !== server;
    });
}
