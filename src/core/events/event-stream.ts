import { datedEvent, type ClusterEvent, type EventDraft, type EventKind } from "./cluster-event.ts";

/** How many events are kept in memory. */
const keptMax = 5_000;

/** What an event stream depends on. */
export interface EventStreamContext {
  readonly clock: {
    /** In ms of rolecall's clock. */
    now(): number;
    /** In ms since the epoch. */
    wall(): number;
  };
  /** Called when events begin to be left out, because too many of a kind happened, with the first of them. */
  readonly onOmitted: (draft: EventDraft) => void;
  /** Called with restored events, oldest first. */
  readonly onRestored: (events: readonly ClusterEvent[]) => void;
}

/** The events of all clusters: gives each its id and time, keeps the newest ones, and passes them on. */
export class EventStream implements EventSource {
  readonly #context: EventStreamContext;
  readonly #epoch: number;
  readonly #rate = new EventRate();
  readonly #listeners = new Set<(event: ClusterEvent) => void>();
  #events: ClusterEvent[] = [];
  #count = 0;

  /** @param startedAtWallMs the start of the process, in ms since the epoch: the first part of the ids */
  constructor(startedAtWallMs: number, context: EventStreamContext) {
    this.#epoch = Math.trunc(startedAtWallMs);
    this.#context = context;
  }

  /** Adds an event and passes it on. @returns `null` if too many of its kind happened lately: then it is left out */
  publish(draft: EventDraft): ClusterEvent | null {
    const { clock, onOmitted } = this.#context;
    const { isAdmitted, omitted } = this.#rate.take(draft.cluster, draft.kind, clock.now());
    if (!isAdmitted) {
      if (omitted === 1) onOmitted(draft);
      return null;
    }
    this.#count += 1;
    const { figures } = draft;
    const counted = omitted === 0 ? draft : { ...draft, figures: { ...figures, omitted } };
    const event = datedEvent(counted, `${this.#epoch}.${this.#count}`, clock.wall());
    this.#events.push(event);
    // Dropped together, so that a full memory costs little for each event.
    if (this.#events.length > 2 * keptMax) this.#events = this.#events.slice(-keptMax);
    for (const listener of this.#listeners) listener(event);
    return event;
  }

  subscribe(listener: (event: ClusterEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  recent(): readonly ClusterEvent[] {
    return this.#events.slice(-keptMax);
  }

  restore(events: readonly ClusterEvent[]): void {
    const older = events.slice(-keptMax);
    this.#events = [...older, ...this.#events];
    this.#context.onRestored(older);
  }
}

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
class EventRate {
  readonly #counts = new Map<string, Count>();

  /**
   * Counts one event, if there is room for it.
   * @param nowMs in ms of rolecall's clock
   * @returns whether there is, and how many of this kind were left out in a row, this one included
   */
  take(
    cluster: string | null,
    kind: EventKind,
    nowMs: number,
  ): { readonly isAdmitted: boolean; readonly omitted: number } {
    const count = this.#countOf(`${cluster ?? ""}/${kind}`, nowMs);
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

/** Where events come from: the newest ones in memory, and a call for each new one. */
interface EventSource {
  /**
   * Registers a listener, which is called once for each new event, in the order of their ids. Restored events are not
   * passed on.
   * @returns removes the listener
   */
  subscribe(listener: (event: ClusterEvent) => void): () => void;
  /** The newest events in memory, oldest first. */
  recent(): readonly ClusterEvent[];
  /**
   * Puts events of an earlier process in front of those in memory.
   * @param events oldest first
   */
  restore(events: readonly ClusterEvent[]): void;
}
