import { Counter } from "prom-client";
/**
 * A counter whose value is kept elsewhere. Each scrape adds what was counted since the last one, so the counter never
 * decreases, not even when a worker exits before its last report.
 * @param read gives the values at a scrape; those with equal labels are added up
 */
export function mirrorCounter(options, read) {
    const mirrored = new Map();
    return new Counter({
        ...options,
        collect() {
            for (const [key, { labels, value }] of addUp(read())) {
                const known = mirrored.get(key) ?? 0;
                if (value <= known)
                    continue;
                this.inc({ ...labels }, value - known);
                mirrored.set(key, value);
            }
        },
    });
}
function addUp(readings) {
    const sums = new Map();
    for (const { labels, value } of readings) {
        const key = JSON.stringify(labels);
        sums.set(key, { labels, value: value + (sums.get(key)?.value ?? 0) });
    }
    return sums;
}
//# sourceMappingURL=mirrored-counter.js.map