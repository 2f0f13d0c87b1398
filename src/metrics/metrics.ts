import { Counter, Gauge, Registry } from "prom-client";
import { ProbeStats, type ProbeRecord } from "./collectors/probe-stats.ts";
import { buildInfo } from "./collectors/build-info.ts";
import { collectorsOfNode } from "./collectors/collectors.ts";
import { Durations } from "./durations.ts";
import { registerFastPathMetrics } from "./fast-path-metrics.ts";
import { exporterFamilies, type ReadSource } from "./nodes/pg-exporter-metrics.ts";
import { managerFamilies } from "./nodes/patroni-metrics.ts";
import { ManagementMetrics } from "./management-metrics.ts";
import { askingMetrics, nodeMetrics } from "./nodes/node-metrics.ts";
import { nodeSeries, type NodeSeries } from "./nodes/node-view.ts";
import type { MetricSources } from "./sources.ts";
import { expositionType, inSlices, renderPage, type Family } from "../exposition/writer.ts";

/** A page of metrics, as it is sent. */
export interface MetricsPage {
  readonly pieces: readonly Buffer[];
  readonly contentType: string;
}

/** What we say about ourselves and about the nodes, in the exposition format. A scrape reads memory. */
export class Metrics {
  /** Of management calls and doors. */
  readonly management: ManagementMetrics;
  readonly #registry = new Registry();
  readonly #sources: MetricSources;
  readonly #probeStats = new ProbeStats();
  readonly #durations = new Durations();
  readonly #reloads: Counter<"outcome">;
  readonly #disputes: Counter<"cluster">;
  readonly #refreshers: readonly (() => void)[];
  #rendering: Promise<MetricsPage> | null = null;

  constructor(sources: MetricSources) {
    const registers = [this.#registry];
    this.#sources = sources;
    this.#reloads = new Counter({
      name: "rolecall_reloads_total",
      help: "Reloads of the configuration.",
      labelNames: ["outcome"],
      registers,
    });
    this.#disputes = new Counter({
      name: "rolecall_disputes_total",
      help: "Episodes in which several nodes claimed the lock, or one that the cluster did not confirm.",
      labelNames: ["cluster"],
      registers,
    });
    this.management = new ManagementMetrics(registers);
    registerFastPathMetrics(registers, sources.fastPath);
    this.#refreshers = [processMetrics(registers, sources), answerMetrics(registers, sources)];
  }

  /** How the askings of each node went. */
  get askings(): ProbeStats {
    return this.#probeStats;
  }

  probed(record: ProbeRecord): void {
    const { cluster, endpoint, outcome, durationMs } = record;
    this.#probeStats.count(record, this.#sources.wall());
    if (outcome !== "skipped") this.#durations.observe(cluster, endpoint, durationMs / 1000);
  }

  reloaded(outcome: "applied" | "refused"): void {
    this.#reloads.inc({ outcome });
  }

  /** An episode began in which it is open who leads. */
  disputed(cluster: string): void {
    this.#disputes.inc({ cluster });
  }

  /** Drops what is counted per node, so that nodes that are gone do not stay for ever. */
  forgetNodes(): void {
    this.#probeStats.forget();
  }

  /**
   * All metrics, rendered in slices, so that checks do not notice. Whoever asks while a page is being rendered gets that page: there
   * is never more than one in the making.
   */
  render(): Promise<MetricsPage> {
    this.#rendering ??= this.#render().finally(() => {
      this.#rendering = null;
    });
    return this.#rendering;
  }

  async #render(): Promise<MetricsPage> {
    await this.#sources.refresh();
    for (const refresh of this.#refreshers) refresh();
    const own = await this.#registry.metrics();
    const views = await inSlices(nodeSeries(this.#sources));
    const nodes = await renderPage([
      this.#durations.family(),
      ...nodeMetrics(views),
      ...askingMetrics(this.#probeStats.all()),
      ...this.#nodesOwn(views),
    ]);
    return { pieces: [Buffer.from(own), ...nodes], contentType: expositionType };
  }

  /** What the nodes themselves, and an exporter of each, would show. */
  #nodesOwn(views: readonly NodeSeries[]): readonly Family[] {
    const { naming, disableIntro, namespace } = this.#sources.exporter();
    const manager = managerFamilies(views, naming);
    if (disableIntro) return manager;
    const known = new Map<NodeSeries, readonly ReadSource[]>();
    const source = (view: NodeSeries): readonly ReadSource[] => {
      const asked = known.get(view) ?? this.#source(view);
      known.set(view, asked);
      return asked;
    };
    const facts = { naming, namespace, build: buildInfo(this.#sources.version), uptimeS: process.uptime(), source };
    return [...exporterFamilies(views, facts), ...manager];
  }

  #source({ view, observation }: NodeSeries): readonly ReadSource[] {
    return collectorsOfNode(view.cluster.name, observation.node, this.#sources.asks()).flatMap((collector) => {
      const stat = this.#probeStats.of(collector.cluster, collector.node, collector.endpoint);
      return stat === null ? [] : [{ collector, stat }];
    });
  }
}

/** Each group of metrics that is read at a scrape gives the function that brings it up to date. */
function processMetrics(registers: Registry[], { workers, lostLogLines }: MetricSources): () => void {
  const memory = new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory, of the workers too.",
    registers,
  });
  const cpu = new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time spent, by the workers too.",
    registers,
  });
  const started = new Gauge({
    name: "process_start_time_seconds",
    help: "When this process started, in seconds since 1970.",
    registers,
  });
  const count = new Gauge({
    name: "rolecall_workers",
    help: "Processes that answer beside the one that probes.",
    registers,
  });
  const lost = new Counter({
    name: "rolecall_workers_lost_total",
    help: "Workers that ended unasked and were replaced.",
    registers,
  });
  const lines = new Counter({
    name: "rolecall_log_lines_lost_total",
    help: "Log lines lost because stderr was not read.",
    registers,
  });
  started.set(Math.round(Date.now() / 1000 - process.uptime()));
  return () => {
    const theirs = workers() ?? { cpuS: 0, residentBytes: 0, count: 0, lost: 0 };
    const { user, system } = process.cpuUsage();
    memory.set(process.memoryUsage.rss() + theirs.residentBytes);
    cpu.reset();
    cpu.inc((user + system) / 1e6 + theirs.cpuS);
    count.set(theirs.count);
    lost.reset();
    lost.inc(theirs.lost);
    lines.reset();
    lines.inc(lostLogLines());
  };
}

function answerMetrics(registers: Registry[], sources: MetricSources): () => void {
  const labelNames = ["route", "status"] as const;
  const answers = new Counter({
    name: "rolecall_answers_total",
    help: "Answers on health listeners by route and status.",
    labelNames,
    registers,
  });
  const snapshots = new Counter({
    name: "rolecall_snapshots_total",
    help: "Snapshots made: one for each probe recorded.",
    registers,
  });
  return () => {
    answers.reset();
    for (const { route, status, count } of sources.answers()) answers.inc({ route, status: String(status) }, count);
    snapshots.reset();
    snapshots.inc(sources.snapshot().sequence);
  };
}
