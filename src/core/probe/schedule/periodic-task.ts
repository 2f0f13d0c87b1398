import type { CancelTimer, SetTimer } from "../../cluster/timer.ts";
import { setSystemTimer } from "./system-timer.ts";

/** The largest deviation of a jittered interval from its nominal length, as a fraction of it. */
export const jitterFraction = 0.1;
/** The interval after a run that ended with an error of the program, in ms. */
const afterErrorMs = 1_000;

/** The clock and the random source of a periodic task. */
export interface TaskClock {
  /** rolecall's clock, in ms. */
  readonly now: () => number;
  /** A number from 0 up to 1. If present, each interval varies by up to 10 %, so that many tasks do not coincide. */
  readonly random?: () => number;
  /** Default: `setTimeout`. */
  readonly setTimer?: SetTimer | undefined;
  /** How much later than asked a timer of this length may end, in ms. Default: not later. */
  readonly timerLateMs?: ((delayMs: number) => number) | undefined;
}

/**
 * Runs one asynchronous task repeatedly. At most one run is in flight, and intervals count from the start of a run. The
 * task returns, in ms, how long after its own start the next run is due; `Infinity` means that no run follows until
 * {@link run} or {@link runBy} asks for one. The first run does not start by itself.
 */
export class PeriodicTask {
  readonly #task: () => Promise<number>;
  readonly #clock: TaskClock;
  #cancelTimer: CancelTimer | null = null;
  /** When the next run is due, in ms of the clock. */
  #dueMs = Infinity;
  /** Only `idle` has a timer. `stopped` is final: a run may still be in flight. */
  #phase: "idle" | "running" | "stopped" = "idle";
  #inFlight: Promise<void> = Promise.resolve();

  /** @param task must settle by a deadline of its own, and must not reject */
  constructor(task: () => Promise<number>, clock: TaskClock) {
    this.#task = task;
    this.#clock = clock;
  }

  /** Whether the task has ended: what a run in flight finds comes too late. */
  get isStopped(): boolean {
    return this.#phase === "stopped";
  }

  /** Whether another run is due. `false` while one is in flight, unless another was requested in the meantime. */
  get isScheduled(): boolean {
    return this.#dueMs < Infinity;
  }

  /** Resolves when the run in flight has ended; at once if there is none. */
  get inFlight(): Promise<void> {
    return this.#inFlight;
  }

  /** Starts a run now, unless one is in flight. Resolves when the run that this call started has ended. */
  run(): Promise<void> {
    return this.runIfIdle() ? this.#inFlight : Promise.resolve();
  }

  /** Starts a run now, unless one is in flight. @returns whether it starts */
  runIfIdle(): boolean {
    if (this.#phase !== "idle") return false;
    this.#inFlight = this.#runOnce();
    return true;
  }

  /**
   * Starts a run now or, if one is in flight, as soon as that has ended, because the run in flight may have started
   * before the event that requires one.
   */
  runAgain(): void {
    if (!this.runIfIdle()) this.runBy(this.#clock.now());
  }

  /** Brings the next run forward to `dueMs` (ms of the clock), unless an earlier one is due. */
  runBy(dueMs: number): void {
    if (this.#phase === "stopped" || dueMs >= this.#dueMs) return;
    this.#dueMs = dueMs;
    if (this.#phase === "idle") this.#setTimer();
  }

  /** Ends the task. A run in flight continues, and no other follows. */
  stop(): void {
    this.#phase = "stopped";
    this.#dueMs = Infinity;
    this.#clearTimer();
  }

  async #runOnce(): Promise<void> {
    this.#clearTimer();
    this.#dueMs = Infinity;
    this.#phase = "running";
    const startedAtMs = this.#clock.now();
    let intervalMs = afterErrorMs;
    try {
      intervalMs = await this.#task();
    } catch (error) {
      // An error of the program. It must cost neither the next run nor those that wait for this one: the process-wide
      // handler (app/uncaught-exceptions.ts) gets it.
      setImmediate(() => {
        throw error;
      });
    }
    if (this.isStopped) return;
    this.#phase = "idle";
    this.#dueMs = Math.min(this.#dueMs, startedAtMs + this.#jittered(intervalMs));
    if (this.isScheduled) this.#setTimer();
  }

  #setTimer(): void {
    this.#clearTimer();
    const { now, setTimer = setSystemTimer } = this.#clock;
    this.#cancelTimer = setTimer(this.#onTimer, Math.max(0, this.#dueMs - now()));
  }

  /**
   * A timer may fire slightly early, but a run must not: view rounds compare views "at least one interval" apart. Reading
   * the clock may find a gap, which may lead to a run of this task.
   */
  readonly #onTimer = (): void => {
    const isEarly = this.#clock.now() < this.#dueMs;
    if (this.#phase !== "idle") return;
    if (isEarly) this.#setTimer();
    else this.runIfIdle();
  };

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  /** By how much the timer is late is a part of the variation. */
  #jittered(intervalMs: number): number {
    const { random, timerLateMs } = this.#clock;
    if (random === undefined) return intervalMs;
    const variesMs = 2 * jitterFraction * intervalMs - (timerLateMs?.(intervalMs) ?? 0);
    return intervalMs * (1 - jitterFraction) + random() * Math.max(0, variesMs);
  }
}
