import type { ClusterEvent, EventDraft } from "./cluster-event.ts";
import { EventRate } from "./event-rate.ts";
import type { EventSource } from "./event-source.ts";

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
    const { kind, severity, cluster, node, message, cause, figures } = draft;
    const event: ClusterEvent = {
      id: `${this.#epoch}.${this.#count}`,
      at: clock.wall(),
      severity,
      kind,
      cluster,
      node,
      message,
      cause,
      figures: omitted === 0 ? figures : { ...figures, omitted },
    };
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
