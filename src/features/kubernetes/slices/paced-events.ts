import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import type { ServiceEvent, ServiceEventReason } from "../core/service-event.ts";

/** What the Events of a Service depend on. */
export interface PacedEventsContext {
  /** A monotonic clock, in ms. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** Sends one. Never rejects. @param agoMs how long ago it happened */
  readonly send: (event: ServiceEvent, agoMs: number) => Promise<void>;
}

/** At most one Event of a kind in this time, in ms. */
const paceMs = 60_000;

/**
 * The Events of one Service: at most one in a minute for each kind. The newest one that has to wait is sent when its minute
 * is over, unless something newer has happened by then: so the last one says how things stand.
 */
export class PacedEvents {
  readonly #context: PacedEventsContext;
  readonly #sentAtMs = new Map<ServiceEventReason, number>();
  /** Ends the wait of the one that has to wait; `null`: none has to. */
  #cancelTimer: CancelTimer | null = null;

  constructor(context: PacedEventsContext) {
    this.#context = context;
  }

  /** Sends an Event, now or when its minute is over. */
  report(event: ServiceEvent): void {
    this.#drop();
    const nowMs = this.#context.now();
    const waitMs = (this.#sentAtMs.get(event.reason) ?? -Infinity) + paceMs - nowMs;
    if (waitMs <= 0) this.#send(event, nowMs);
    else {
      this.#cancelTimer = this.#context.setTimer(() => {
        this.#cancelTimer = null;
        this.#send(event, nowMs);
      }, waitMs);
    }
  }

  /** Sends nothing more. */
  stop(): void {
    this.#drop();
  }

  #drop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #send(event: ServiceEvent, atMs: number): void {
    const nowMs = this.#context.now();
    this.#sentAtMs.set(event.reason, nowMs);
    void this.#context.send(event, nowMs - atMs);
  }
}
