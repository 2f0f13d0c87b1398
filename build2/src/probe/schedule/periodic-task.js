/** The largest deviation of a jittered interval from its nominal length, as a fraction of it. */
const jitterFraction = 0.1;
/**
 * Runs one asynchronous task repeatedly. At most one run is in flight, and intervals count from the start of a run. The
 * task returns, in ms, how long after its own start the next run is due; `Infinity` means that no run follows until
 * {@link run} or {@link runBy} asks for one. The first run does not start by itself.
 */
export class PeriodicTask {
    #task;
    #clock;
    #timer = null;
    /** When the next run is due, in ms of the clock. */
    #dueMs = Infinity;
    #isRunning = false;
    #isStopped = false;
    #inFlight = Promise.resolve();
    /** @param task must settle by a deadline of its own, and must not reject */
    constructor(task, clock) {
        this.#task = task;
        this.#clock = clock;
    }
    /** Whether a run is in flight. */
    get isRunning() {
        return this.#isRunning;
    }
    /** Whether another run is due. `false` while one is in flight, unless another was requested in the meantime. */
    get isScheduled() {
        return this.#dueMs < Infinity;
    }
    /** Resolves when the run in flight has ended; at once if there is none. */
    get inFlight() {
        return this.#inFlight;
    }
    /** Starts a run now, unless one is in flight. Resolves when the run that this call started has ended. */
    async run() {
        if (this.#isRunning || this.#isStopped)
            return;
        this.#inFlight = this.#runOnce();
        await this.#inFlight;
    }
    /**
     * Starts a run now or, if one is in flight, as soon as that has ended, because the run in flight may have started
     * before the event that requires one.
     */
    runAgain() {
        if (this.#isRunning)
            this.runBy(this.#clock.now());
        else
            void this.run();
    }
    /** Brings the next run forward to `dueMs` (ms of the clock), unless an earlier one is due. */
    runBy(dueMs) {
        if (this.#isStopped || dueMs >= this.#dueMs)
            return;
        this.#dueMs = dueMs;
        if (!this.#isRunning)
            this.#setTimer();
    }
    /** Ends the task. A run in flight continues, and no other follows. */
    stop() {
        this.#isStopped = true;
        this.#dueMs = Infinity;
        this.#clearTimer();
    }
    async #runOnce() {
        this.#clearTimer();
        this.#dueMs = Infinity;
        this.#isRunning = true;
        const startedAtMs = this.#clock.now();
        const intervalMs = await this.#task();
        this.#isRunning = false;
        if (this.#isStopped)
            return;
        this.#dueMs = Math.min(this.#dueMs, startedAtMs + this.#jittered(intervalMs));
        if (this.isScheduled)
            this.#setTimer();
    }
    #setTimer() {
        this.#clearTimer();
        this.#timer = setTimeout(() => this.#onTimer(), Math.max(0, this.#dueMs - this.#clock.now()));
    }
    /** A timer may fire slightly early, but a run must not: view rounds compare views "at least one interval" apart. */
    #onTimer() {
        if (this.#clock.now() < this.#dueMs)
            this.#setTimer();
        else
            void this.run();
    }
    #clearTimer() {
        if (this.#timer !== null)
            clearTimeout(this.#timer);
        this.#timer = null;
    }
    #jittered(intervalMs) {
        const { random } = this.#clock;
        return random === undefined ? intervalMs : intervalMs * (1 + jitterFraction * (2 * random() - 1));
    }
}
//# sourceMappingURL=periodic-task.js.map