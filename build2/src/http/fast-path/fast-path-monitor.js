import { noFastPathCounts } from "../message/fast-path-counts.js";
/** Counts what the fast path of one process does, and trips it at the first unexpected thing. */
export class FastPathMonitor {
    #fallbacks = { ...noFastPathCounts.fallbacks };
    #onTrip;
    #requests = 0;
    #isTripped = false;
    /** @param onTrip called once, with what was unexpected */
    constructor(onTrip) {
        this.#onTrip = onTrip;
    }
    /** Whether the fast path must not be used any more in this process. */
    get isTripped() {
        return this.#isTripped;
    }
    get counts() {
        return { requests: this.#requests, fallbacks: { ...this.#fallbacks }, trips: this.#isTripped ? 1 : 0 };
    }
    countRequest() {
        this.#requests += 1;
    }
    countFallback(reason) {
        this.#fallbacks[reason] += 1;
    }
    /** Ends the use of the fast path in this process. Further calls do nothing. Never throws. */
    trip(error) {
        if (this.#isTripped)
            return;
        this.#isTripped = true;
        try {
            this.#onTrip(error instanceof Error ? error.message : String(error));
        }
        catch {
            // Callbacks of libuv are the callers. A log that fails must not end the process.
        }
    }
}
//# sourceMappingURL=fast-path-monitor.js.map