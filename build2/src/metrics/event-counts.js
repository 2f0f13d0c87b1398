import { labelsText, sampleLine } from "../exposition/writer.js";
/**
 * How many events of each kind a cluster had. Every kind has a sample from the start, because `increase()` does not see
 * the first event of a sample that begins with 1. Kept here, not by prom-client, so that a page of many clusters is
 * rendered in slices.
 */
export class EventCounts {
    #kinds;
    /** Cluster -> kind -> events. */
    #clusters = new Map();
    /** @param kinds every kind of event */
    constructor(kinds) {
        this.#kinds = kinds;
    }
    count(cluster, kind) {
        const counts = this.#clusters.get(cluster) ?? new Map();
        this.#clusters.set(cluster, counts);
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    /** The counter `rolecall_events_total`. Forgets all other clusters. @param clusters the present ones */
    family(clusters) {
        const present = new Set(clusters);
        for (const name of this.#clusters.keys())
            if (!present.has(name))
                this.#clusters.delete(name);
        const name = "rolecall_events_total";
        const [kinds, counted] = [this.#kinds, this.#clusters];
        function* samples() {
            for (const cluster of present)
                for (const kind of kinds)
                    yield sampleLine(name, labelsText({ cluster, kind }), counted.get(cluster)?.get(kind) ?? 0);
        }
        return { name, type: "counter", help: "Events of a cluster by kind, as /events shows them.", samples };
    }
}
//# sourceMappingURL=event-counts.js.map