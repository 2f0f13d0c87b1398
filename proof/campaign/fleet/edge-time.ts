import type { EventOwner, PendingEvent, SeenTime, VirtualTime } from "../sim/virtual-time.ts";

/** Less than this is nothing, in ms: times are added up. */
const roundingMs = 1e-6;

/** The time of one process of a fleet: it can stand still, its machine can be suspended, and it can end. */
export class EdgeTime implements SeenTime {
  readonly #time: VirtualTime;
  #frozenUntilMs = -Infinity;
  #suspendedUntilMs = -Infinity;
  /** For how long its machine was suspended: its monotonic clock does not count that time. */
  #suspendedMs = 0;
  #lateMs = 0;
  #isOver = false;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get nowMs(): number {
    return this.#time.nowMs;
  }

  get monotonicMs(): number {
    return this.nowMs - this.#suspendedMs;
  }

  get frozenMs(): number {
    return Math.max(0, this.#frozenUntilMs - this.nowMs);
  }

  get lateMs(): number {
    return this.#lateMs;
  }

  /** As {@link VirtualTime.after}. Nothing but events of the world happens after its end. */
  after(owner: EventOwner, delayMs: number, run: () => void): PendingEvent {
    if (owner === "world") return this.#time.after(owner, delayMs, run);
    const event: PendingEvent = { atMs: this.nowMs + Math.max(0, delayMs), order: 0, owner, run };
    this.#wait(event, delayMs, owner === "timer" ? this.monotonicMs + delayMs : -Infinity);
    return event;
  }

  /** As {@link VirtualTime.freeze}. */
  freeze(ms: number): void {
    this.#lateMs += Math.max(0, ms - this.frozenMs);
    this.#standStill(ms);
  }

  #standStill(ms: number): void {
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.nowMs + ms);
  }

  /** As {@link VirtualTime.suspend}. */
  suspend(ms: number): void {
    this.#standStill(ms);
    const untilMs = Math.max(this.#suspendedUntilMs, this.nowMs + ms);
    this.#suspendedMs += untilMs - Math.max(this.nowMs, this.#suspendedUntilMs);
    this.#suspendedUntilMs = untilMs;
  }

  /** The process ends. */
  end(): void {
    this.#isOver = true;
  }

  /** @param dueMs when it is due by the monotonic clock, in ms */
  #wait(event: PendingEvent, delayMs: number, dueMs: number): void {
    this.#time.after("delivery", delayMs, () => {
      const { run } = event;
      if (run === null || this.#isOver) return;
      const leftMs = Math.max(this.frozenMs, dueMs - this.monotonicMs);
      if (leftMs > roundingMs) return this.#wait(event, leftMs, dueMs);
      event.run = null;
      run();
    });
  }
}
