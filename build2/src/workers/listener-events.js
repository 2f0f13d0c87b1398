/**
 * At most so many rejected requests are sent one by one in each period: a flood must not become a flood of messages.
 */
const sentMax = 50;
/** That period, in ms. */
const periodMs = 250;
/** Sends the events of a worker's listeners to the main process, which logs and counts them. */
export class ListenerEventFeed {
    #send;
    #timer = null;
    #sent = 0;
    /** How many more were rejected, by listener and status. */
    #unsent = new Map();
    constructor(send) {
        this.#send = send;
    }
    start() {
        this.#timer ??= setInterval(() => this.#endPeriod(), periodMs).unref();
    }
    /** The events of one listener. */
    of(listener) {
        return {
            onError: (error, request) => this.#send({ kind: "error", listener, problem: String(error instanceof Error ? error.stack : error), request }),
            onFiles: (problem) => this.#send({ kind: "files", listener, problem }),
            onRejected: ({ address, status, request }) => {
                this.#sent += 1;
                if (this.#sent <= sentMax)
                    this.#send({ kind: "rejected", listener, address, status, request, count: 1 });
                else
                    this.#count(listener, status);
            },
        };
    }
    /** Sends what was counted so far, and stops. */
    close() {
        if (this.#timer !== null)
            clearInterval(this.#timer);
        this.#endPeriod();
    }
    #count(listener, status) {
        const counts = this.#unsent.get(listener) ?? new Map();
        counts.set(status, (counts.get(status) ?? 0) + 1);
        this.#unsent.set(listener, counts);
    }
    #endPeriod() {
        this.#sent = 0;
        const unsent = this.#unsent;
        this.#unsent = new Map();
        for (const [listener, counts] of unsent) {
            for (const [status, count] of counts)
                this.#send({ kind: "rejected", listener, address: "", status, request: null, count });
        }
    }
}
/** Raises in the main process an event of the worker with this number. */
export function replayEvent(event, { onError, onFiles, onRejected }, worker) {
    if (event.kind === "error")
        onError(event.problem, event.request);
    else if (event.kind === "rejected")
        onRejected(event);
    // All workers read the same files: one of them reports it.
    else if (worker === 0)
        onFiles(event.problem);
}
//# sourceMappingURL=listener-events.js.map