/**
 * When rolecall may have known no leader. Rule 4 counts the lag in time of a replica as 0 then, if the replica has all
 * that rolecall knows of the last leader's WAL. `lag_time` sets no limit to what the last leader wrote unseen.
 */
import { eventsOf, type HistoryEvent, type ReadEvent, type WriteEvent } from "../history.ts";
import { balancerNames } from "../machines/addresses.ts";
import { bounds } from "./bounds.ts";
import { type FreeSpan, LockTimeline } from "./lock-timeline.ts";
import { isByRolecall, type Routes } from "./routes.ts";

interface UnledSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export class UnledSpans {
  readonly #spans: readonly UnledSpan[];

  /** @param slackMs is added to the bounds */
  constructor(history: readonly HistoryEvent[], routes: Routes, slackMs: number) {
    const writes = eventsOf(history, "write").filter((write) => isRoutedWrite(write, routes));
    this.#spans = new LockTimeline(history).freeSpans.map((free) => {
      const knownMs = Math.min(free.toMs + bounds.viewSentAtMs, knownAtMs(free, writes));
      return { fromMs: free.fromMs, toMs: knownMs + bounds.readCheckMs + slackMs };
    });
  }

  /** Whether a read may rest on an answer of rolecall from a time when it knew no leader. */
  mayExplain({ beganAtMs, endedAtMs }: ReadEvent): boolean {
    return this.#spans.some(({ fromMs, toMs }) => fromMs <= endedAtMs && beganAtMs <= toMs);
  }
}

/** Whether rolecall's yes as the primary led to an acknowledged write. */
function isRoutedWrite(write: WriteEvent, routes: Routes): boolean {
  if (write.balancer === null || !write.isNewSession || write.outcome !== "acknowledged") return false;
  const route = routes.of(write);
  return route !== undefined && isByRolecall(route.pool);
}

/**
 * When rolecall knew the next leader: a write through each HAProxy, which have different first instances, had reached
 * that node by rolecall's yes. `Infinity` if there are no such writes. If that node held the lock shortly before, a yes
 * may rest on a report from that time, so only later writes count.
 */
function knownAtMs({ fromMs, toMs, next, nextHeldUntilMs }: FreeSpan, writes: readonly WriteEvent[]): number {
  const sinceMs = nextHeldUntilMs < fromMs - bounds.writeMs ? fromMs : toMs + bounds.writeMs;
  const firsts = balancerNames.map((name) => {
    const own = writes.filter(
      ({ balancer, node, openedAtMs }) => balancer === name && node === next && openedAtMs >= sinceMs,
    );
    return Math.min(...own.map(({ endedAtMs }) => endedAtMs));
  });
  return Math.max(...firsts);
}
