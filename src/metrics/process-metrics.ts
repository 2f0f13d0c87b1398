import { Gauge, type Registry } from "prom-client";
import { mirrorCounter, type CounterReading } from "./mirrored-counter.ts";
import type { MetricSources } from "./sources.ts";

/** Registers the metrics of the process and its workers, and of their answers. All are read at a scrape. */
export function registerProcessMetrics(registers: Registry[], sources: MetricSources): void {
  registerGauges(registers, sources);
  const { version } = sources;
  new Gauge({
    name: "rolecall_build_info",
    help: "Always 1: its labels are the versions of rolecall and of Node.js.",
    labelNames: ["version", "node"],
    registers,
  }).set({ version, node: process.versions.node }, 1);
  const total = (name: string, help: string, read: () => number): void =>
    void mirrorCounter<never>({ name, help, labelNames: [], registers }, () => [{ labels: {}, value: read() }]);
  total("process_cpu_seconds_total", "Processor time spent, by the workers too.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6 + (sources.workers()?.cpuS ?? 0);
  });
  total(
    "rolecall_workers_lost_total",
    "Workers that exited unexpectedly and were replaced.",
    () => sources.workers()?.lost ?? 0,
  );
  total("rolecall_log_lines_lost_total", "Log lines lost because stderr was not read.", () => sources.lostLogLines());
  total("rolecall_snapshots_total", "Snapshots made: one for each probe recorded.", () => sources.snapshot().sequence);
  mirrorCounter(
    {
      name: "rolecall_answers_total",
      help: "Answers on health listeners by route and status.",
      labelNames: ["route", "status"],
      registers,
    },
    () => answerReadings(sources),
  );
}

function registerGauges(registers: Registry[], { workers }: MetricSources): void {
  const startedS = Math.round(Date.now() / 1000 - process.uptime());
  const gauge = (name: string, help: string, read: () => number): void =>
    void new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge(
    "process_resident_memory_bytes",
    "Resident memory, of the workers too.",
    () => process.memoryUsage.rss() + (workers()?.residentBytes ?? 0),
  );
  gauge("process_start_time_seconds", "When this process started, in seconds since 1970.", () => startedS);
  gauge("rolecall_workers", "Processes that answer in addition to the one that probes.", () => workers()?.count ?? 0);
}

function* answerReadings({ answers }: MetricSources): Iterable<CounterReading<"route" | "status">> {
  for (const { route, status, count } of answers()) yield { labels: { route, status: String(status) }, value: count };
}
