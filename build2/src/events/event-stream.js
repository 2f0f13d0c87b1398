import { EventRate } from "./event-rate.js";
/** How many events are kept in memory. */
const keptMax = 5_000;
/** The events of all clusters: gives each its id and time, keeps the newest ones, and passes them on. */
export class EventStream {
    #context;
    #epoch;
    #rate = new EventRate();
    #listeners = new Set();
    #events = [];
    #count = 0;
    /** @param startedAtWallMs the start of the process, in ms since the epoch: the first part of the ids */
    constructor(startedAtWallMs, context) {
        this.#epoch = Math.trunc(startedAtWallMs);
        this.#context = context;
    }
    /** Adds an event and passes it on. @returns `null` if too many of its kind happened lately: then it is left out */
    publish(draft) {
        const { clock, onOmitted } = this.#context;
        const { isAdmitted, omitted } = this.#rate.take(draft.cluster, draft.kind, clock.now());
        if (!isAdmitted) {
            if (omitted === 1)
                onOmitted(draft);
            return null;
        }
        this.#count += 1;
        const { kind, severity, cluster, node, message, cause, figures } = draft;
        const event = {
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
        if (this.#events.length > 2 * keptMax)
            this.#events = this.#events.slice(-keptMax);
        for (const listener of this.#listeners)
            listener(event);
        return event;
    }
    subscribe(listener) {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
    }
    recent() {
        return this.#events.slice(-keptMax);
    }
    restore(events) {
        const older = events.slice(-keptMax);
        this.#events = [...older, ...this.#events];
        this.#context.onRestored(older);
    }
}
//# sourceMappingURL=event-stream.js.map