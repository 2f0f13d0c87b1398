/**
 * Who held the lock when, from etcd's own history. The instant of a revision is known up to two ticks of the observer:
 * it came after every tick of a lower revision was sent, and before any tick of a higher one was acknowledged.
 */
import { eventsOf, type HistoryEvent } from "../history.ts";
import type { NodeName } from "../machines/addresses.ts";

/** A grant of the lock; that it is released or expires grants it to nobody, and is left out. */
export interface Grant {
  readonly holder: NodeName;
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** A time in the run for which nobody held the lock, as long as it may have been. */
export interface FreeSpan {
  readonly fromMs: number;
  /** `Infinity` if nobody got the lock any more. */
  readonly toMs: number;
  /** Who got the lock then. */
  readonly next: NodeName | null;
  /** Until when that node may have held the lock before; -Infinity if it never did. */
  readonly nextHeldUntilMs: number;
}

export class LockTimeline {
  readonly grants: readonly Grant[];
  readonly freeSpans: readonly FreeSpan[];

  constructor(history: readonly HistoryEvent[]) {
    const ticks = eventsOf(history, "tick");
    const dated = eventsOf(history, "lock")
      .toSorted((one, other) => one.revision - other.revision)
      .map(({ revision, holder }) => ({
        holder,
        earliestMs: Math.max(...ticks.filter((tick) => tick.revision < revision).map((tick) => tick.sentAtMs)),
        latestMs: Math.min(...ticks.filter((tick) => tick.revision > revision).map((tick) => tick.acknowledgedAtMs)),
      }));
    const grants: Grant[] = [];
    for (const { holder, ...times } of dated)
      if (holder !== null && grants.at(-1)?.holder !== holder) grants.push({ holder, ...times });
    this.grants = grants;
    this.freeSpans = dated.flatMap(({ holder, earliestMs: fromMs }, at) => {
      const next = dated.slice(at + 1).find((later) => later.holder !== null);
      // No tick is before a grant that came before the run.
      if (holder !== null || next?.earliestMs === -Infinity) return [];
      const before = dated.slice(0, at).findLastIndex((earlier) => earlier.holder === next?.holder);
      const nextHeldUntilMs = before === -1 ? -Infinity : (dated[before + 1]?.latestMs ?? Infinity);
      return [{ fromMs, toMs: next?.latestMs ?? Infinity, next: next?.holder ?? null, nextHeldUntilMs }];
    });
  }

  /** The nodes that may have been the last to get the lock at some moment of a span, in case of doubt more. */
  holders(fromMs: number, toMs: number): ReadonlySet<NodeName> {
    const found = this.grants.filter(({ earliestMs }, at) => {
      const endsAtMs = this.grants[at + 1]?.latestMs ?? Infinity;
      return earliestMs <= toMs && endsAtMs >= fromMs;
    });
    return new Set(found.map(({ holder }) => holder));
  }

  /**
   * How long before an instant the DCS certainly gave the lock of a node to another, in ms; 0 if the node may still be
   * the last that got it.
   */
  lostFor(node: NodeName, atMs: number): number {
    const later = this.grants.filter(({ earliestMs }) => earliestMs <= atMs);
    const own = later.findLastIndex(({ holder }) => holder === node);
    const next = this.grants[own + 1];
    if (next === undefined) return 0;
    return Math.max(0, atMs - next.latestMs);
  }
}
