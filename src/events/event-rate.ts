import type { EventKind } from "./cluster-event.ts";

/** How many events of one kind of a cluster may follow each other at once. */
const burstMax = 20;
/** After this time there is room for one more, in ms. */
const refillMs = 6_000;
/** The most kinds of clusters that are counted. Beyond it those counted longest ago are forgotten. */
const countedMax = 10_000;

interface Count {
  room: number;
  atMs: number;
  omitted: number;
}

/** Bounds the rate of the events of each kind and cluster, so that a node that comes and goes cannot hide others. */
export class EventRate {
  readonly #counts = new Map<string, Count>();

  /**
   * Counts one event, if there is room for it.
   * @param nowMs in ms of rolecall's clock
   * @returns whether there is, and how many of this kind were left out in a row, this one included
   */
  take(cluster: string, kind: EventKind, nowMs: number): { readonly isAdmitted: boolean; readonly omitted: number } {
    const count = this.#countOf(`${cluster}/${kind}`, nowMs);
    count.room = Math.min(burstMax, count.room + (nowMs - count.atMs) / refillMs);
    count.atMs = nowMs;
    if (count.room < 1) {
      count.omitted += 1;
      return { isAdmitted: false, omitted: count.omitted };
    }
    const { omitted } = count;
    count.room -= 1;
    count.omitted = 0;
    return { isAdmitted: true, omitted };
  }

  #countOf(key: string, nowMs: number): Count {
    const known = this.#counts.get(key) ?? { room: burstMax, atMs: nowMs, omitted: 0 };
    this.#counts.delete(key);
    this.#counts.set(key, known);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > countedMax && oldest !== undefined) this.#counts.delete(oldest);
    return known;
  }
}
