import { Gauge } from "prom-client";
import { mirrorCounter } from "./mirrored-counter.js";
/** Registers the metrics of the process and its workers, and of their answers. All are read at a scrape. */
export function registerProcessMetrics(registers, sources) {
    registerGauges(registers, sources);
    const total = (name, help, read) => void mirrorCounter({ name, help, labelNames: [], registers }, () => [{ labels: {}, value: read() }]);
    total("process_cpu_seconds_total", "Processor time spent, by the workers too.", () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6 + (sources.workers()?.cpuS ?? 0);
    });
    total("rolecall_workers_lost_total", "Workers that exited unexpectedly and were replaced.", () => sources.workers()?.lost ?? 0);
    total("rolecall_log_lines_lost_total", "Log lines lost because stderr was not read.", () => sources.lostLogLines());
    total("rolecall_snapshots_total", "Snapshots made: one for each probe recorded.", () => sources.snapshot().sequence);
    mirrorCounter({
        name: "rolecall_answers_total",
        help: "Answers on health listeners by route and status.",
        labelNames: ["route", "status"],
        registers,
    }, () => answerReadings(sources));
}
function registerGauges(registers, { workers }) {
    const startedS = Math.round(Date.now() / 1000 - process.uptime());
    const gauge = (name, help, read) => void new Gauge({
        name,
        help,
        registers,
        collect() {
            this.set(read());
        },
    });
    gauge("process_resident_memory_bytes", "Resident memory, of the workers too.", () => process.memoryUsage.rss() + (workers()?.residentBytes ?? 0));
    gauge("process_start_time_seconds", "When this process started, in seconds since 1970.", () => startedS);
    gauge("rolecall_workers", "Processes that answer beside the one that probes.", () => workers()?.count ?? 0);
}
function* answerReadings({ answers }) {
    for (const { route, status, count } of answers())
        yield { labels: { route, status: String(status) }, value: count };
}
//# sourceMappingURL=process-metrics.js.map