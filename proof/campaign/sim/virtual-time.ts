/**
 * Who an event belongs to. `world`: the modelled clusters and the network; `timer`: a timer of rolecall; `delivery`:
 * something that reaches rolecall. The last two wait while rolecall's process is frozen.
 */
export type EventOwner = "world" | "timer" | "delivery";

/**
 * The shortest delay above 0, in ms. A shorter one can be lost when it is added to the time: a timer that starts again
 * until it is due would do so forever.
 */
const delayMinMs = 1e-6;

/** A pending event. */
export interface PendingEvent {
  atMs: number;
  readonly order: number;
  readonly owner: EventOwner;
  /** `null` once it was cancelled. */
  run: (() => void) | null;
}

/** Time as one process sees it. */
export type SeenTime = Pick<VirtualTime, "nowMs" | "monotonicMs" | "frozenMs" | "lateMs" | "after">;

/** A settled promise: its reactions run after all that are queued already. */
const settled = Promise.resolve();

/** How many events run before the process looks at its own signals. */
const sliceMax = 20_000;

/** How many events may run at one instant. More mean that something starts again and again without an end. */
const atOnceMax = 100_000;

/**
 * Virtual time: a queue of events, and a clock that jumps from one to the next. Promises that an event settles are
 * followed to their end before the next event, so a run depends on nothing but its seed.
 */
export class VirtualTime {
  #nowMs = 0;
  #order = 0;
  readonly #heap: PendingEvent[] = [];
  /** Until when rolecall's process is frozen. */
  #frozenUntilMs = -Infinity;
  /** Until when the machine is suspended. */
  #suspendedUntilMs = -Infinity;
  /** For how long the machine was suspended: rolecall's monotonic clock does not count that time. */
  #suspendedMs = 0;
  #lateMs = 0;
  /** Until when rolecall's process gets little of a processor, and what each of its events takes meanwhile, in ms. */
  #starved: { readonly untilMs: number; readonly costMs: number } | null = null;
  /** How many events ran. */
  events = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** rolecall's monotonic clock, in ms. */
  get monotonicMs(): number {
    return this.#nowMs - this.#suspendedMs;
  }

  /** For how long rolecall's process stays frozen, in ms. */
  get frozenMs(): number {
    return Math.max(0, this.#frozenUntilMs - this.#nowMs);
  }

  /** The sum of all delays of the process's event loop so far, in ms. The time of a suspend is none. */
  get lateMs(): number {
    return this.#lateMs;
  }

  /** Runs a function after a delay in ms. */
  after(owner: EventOwner, delayMs: number, run: () => void): PendingEvent {
    this.#order += 1;
    const atMs = this.#nowMs + (delayMs > 0 ? Math.max(delayMinMs, delayMs) : 0);
    const event: PendingEvent = { atMs, order: this.#order, owner, run };
    this.#push(event);
    return event;
  }

  /** Freezes rolecall's process for a time: its clock goes on, and what is due waits. */
  freeze(ms: number): void {
    this.#lateMs += Math.max(0, this.#nowMs + ms - Math.max(this.#nowMs, this.#frozenUntilMs));
    this.#standStill(ms);
  }

  /**
   * Starves rolecall's process for a time: its clock goes on, and each of its events takes long, so that others wait.
   * @param costMs what an event takes meanwhile
   */
  starve(ms: number, costMs: number): void {
    this.#starved = { untilMs: this.#nowMs + ms, costMs };
  }

  /**
   * Suspends rolecall's machine for a time: its monotonic clock stands still, and so do its timers. Of a suspend that
   * begins during another one only the time after that one counts: the clock must not step back.
   */
  suspend(ms: number): void {
    this.#standStill(ms);
    const fromMs = Math.max(this.#nowMs, this.#suspendedUntilMs);
    const addedMs = Math.max(0, this.#nowMs + ms - fromMs);
    this.#suspendedUntilMs = fromMs + addedMs;
    this.#suspendedMs += addedMs;
    for (const event of this.#heap) if (event.owner === "timer") event.atMs += addedMs;
    for (let at = (this.#heap.length >> 1) - 1; at >= 0; at -= 1) this.#sink(at);
  }

  #standStill(ms: number): void {
    this.#frozenUntilMs = Math.max(this.#frozenUntilMs, this.#nowMs + ms);
  }

  /** Runs all events up to an instant. Rejects if one throws, or if events at one instant do not end. */
  run(untilMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let left = sliceMax;
      let atOnce = 0;
      const step = (): void => {
        try {
          for (;;) {
            const event = this.#heap[0];
            if (event === undefined || event.atMs > untilMs) {
              this.#nowMs = untilMs;
              return resolve();
            }
            this.#pop();
            const { run, owner } = event;
            if (run === null) continue;
            if (owner !== "world" && event.atMs < this.#frozenUntilMs) {
              event.atMs = this.#frozenUntilMs;
              this.#push(event);
              continue;
            }
            atOnce = event.atMs > this.#nowMs ? 0 : atOnce + 1;
            if (atOnce > atOnceMax) throw new Error(`Events at ${this.#nowMs} ms do not end`);
            this.#nowMs = event.atMs;
            event.run = null;
            this.events += 1;
            run();
            if (owner === "world") continue;
            if (this.#starved !== null && this.#nowMs < this.#starved.untilMs) this.freeze(this.#starved.costMs);
            break;
          }
        } catch (error) {
          return reject(error instanceof Error ? error : new Error(String(error)));
        }
        left -= 1;
        if (left > 0) void settled.then(afterPromises);
        else {
          left = sliceMax;
          setImmediate(step);
        }
      };
      // Node runs the queue of ticks once no promise is left to follow.
      const afterPromises = (): void => process.nextTick(step);
      setImmediate(step);
    });
  }

  #push(event: PendingEvent): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !isBefore(event, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    this.#sink(0);
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const event = heap[from];
    if (event === undefined) return;
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const [one, two] = [heap[left], heap[left + 1]];
      if (one === undefined) break;
      const isRight = two !== undefined && isBefore(two, one);
      const least = isRight ? two : one;
      if (!isBefore(least, event)) break;
      heap[at] = least;
      at = isRight ? left + 1 : left;
    }
    heap[at] = event;
  }
}

function isBefore(one: PendingEvent, two: PendingEvent): boolean {
  return one.atMs < two.atMs || (one.atMs === two.atMs && one.order < two.order);
}
