import { labelsText, sampleLine } from "../exposition/writer.js";
/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** More clusters times endpoints than any configuration has. Beyond it nothing new is counted. */
const rowsMax = 10_000;
/**
 * How long probes took, by cluster and endpoint. Kept here, not by prom-client, so that a page of many clusters is
 * rendered in slices.
 */
export class Durations {
    #rows = new Map();
    observe(cluster, endpoint, seconds) {
        const key = `${cluster}\n${endpoint}`;
        let row = this.#rows.get(key);
        if (row === undefined) {
            if (this.#rows.size >= rowsMax)
                return;
            row = {
                labels: labelsText({ cluster, question: endpoint }),
                counts: Array.from({ length: bounds.length + 1 }, () => 0),
                sumS: 0,
            };
            this.#rows.set(key, row);
        }
        const at = bounds.findIndex((bound) => seconds <= bound);
        const bucket = at < 0 ? bounds.length : at;
        row.counts[bucket] = (row.counts[bucket] ?? 0) + 1;
        row.sumS += seconds;
    }
    /** The histogram `rolecall_probe_duration_seconds`. */
    family() {
        const name = "rolecall_probe_duration_seconds";
        const rows = this.#rows;
        function* samples() {
            for (const row of rows.values())
                yield linesOf(name, row);
        }
        return { name, type: "histogram", help: "How long probes took, answered or not.", samples };
    }
}
/** Each bucket counts every duration up to its bound. */
function linesOf(name, { labels, counts, sumS }) {
    let cumulative = 0;
    let lines = "";
    for (const [at, count] of counts.entries()) {
        cumulative += count;
        lines += sampleLine(`${name}_bucket`, `le="${bounds[at] ?? "+Inf"}",${labels}`, cumulative);
    }
    return lines + sampleLine(`${name}_sum`, labels, sumS) + sampleLine(`${name}_count`, labels, cumulative);
}
//# sourceMappingURL=durations.js.map