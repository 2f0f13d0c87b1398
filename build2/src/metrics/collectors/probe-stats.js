/** More endpoints than the largest configuration has. Beyond it nothing new is counted. */
const rowsMax = 50_000;
/** Counts probes by node and endpoint. Forgotten at a reload, as an exporter's statistics are. */
export class ProbeStats {
    #rows = new Map();
    count(record, atWallMs) {
        const row = this.#row(record);
        if (row === null)
            return;
        if (record.outcome === "skipped") {
            row.skipped += 1;
            return;
        }
        const isAnswered = record.outcome === "answered";
        row.total += 1;
        row.outcomes.set(record.outcome, (row.outcomes.get(record.outcome) ?? 0) + 1);
        if (!isAnswered)
            row.errors += 1;
        row.totalMs += record.durationMs;
        row.lastMs = record.durationMs;
        row.lastAtWallMs = atWallMs;
        row.hasLastFailed = !isAnswered;
    }
    /** The statistics of one endpoint of one node; `null` before its first probe. */
    of(cluster, node, endpoint) {
        return this.#rows.get(keyOf(cluster, node, endpoint)) ?? null;
    }
    all() {
        return this.#rows.values();
    }
    forget() {
        this.#rows.clear();
    }
    #row({ cluster, node, endpoint }) {
        const key = keyOf(cluster, node, endpoint);
        const known = this.#rows.get(key);
        if (known !== undefined)
            return known;
        if (this.#rows.size >= rowsMax)
            return null;
        const counts = { total: 0, errors: 0, skipped: 0, totalMs: 0, lastMs: 0, lastAtWallMs: null, hasLastFailed: false };
        const row = { cluster, node, endpoint, outcomes: new Map(), ...counts };
        this.#rows.set(key, row);
        return row;
    }
}
/** Names of clusters and endpoints contain no line break. */
function keyOf(cluster, node, endpoint) {
    return `${cluster}\n${endpoint}\n${node}`;
}
//# sourceMappingURL=probe-stats.js.map