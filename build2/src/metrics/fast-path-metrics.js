import { Counter } from "prom-client";
/**
 * The metrics of the fast path (docs/fast-path.md).
 * @param read called at each scrape
 */
export function registerFastPathMetrics(registers, read) {
    const requests = new Counter({
        name: "rolecall_fast_path_requests_total",
        help: "Requests answered on the fast path, without node:http.",
        registers,
        collect: () => set(requests, read().requests),
    });
    const fallbacks = new Counter({
        name: "rolecall_fast_path_fallbacks_total",
        help: "Connections that left the fast path for node:http, by reason.",
        labelNames: ["reason"],
        registers,
        collect: () => {
            fallbacks.reset();
            for (const [reason, count] of Object.entries(read().fallbacks))
                fallbacks.inc({ reason }, count);
        },
    });
    const trips = new Counter({
        name: "rolecall_fast_path_trips_total",
        help: "Processes in which something unexpected ended the use of the fast path.",
        registers,
        collect: () => set(trips, read().trips),
    });
}
function set(counter, value) {
    counter.reset();
    counter.inc(value);
}
//# sourceMappingURL=fast-path-metrics.js.map