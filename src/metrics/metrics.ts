import { Counter, Gauge, Registry } from "prom-client";
import { Askings, type Probed } from "./askings.ts";
import { buildInfo } from "./build-info.ts";
import { collectorsOfNode } from "./collectors.ts";
import { Durations } from "./durations.ts";
import { exporterFamilies, type Asked } from "./exporter-families.ts";
import { managerFamilies } from "./manager-families.ts";
import { ManagementMetrics } from "./management-metrics.ts";
import { askingMetrics, nodeMetrics } from "./node-metrics.ts";
import { viewNodes, type NodeView } from "./node-view.ts";
import type { MetricSources } from "./sources.ts";
import { expositionType, inSlices, renderPage, type Family } from "./text-page.ts";

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
  readonly #askings = new Askings();
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
    this.#refreshers = [processMetrics(registers, sources), answerMetrics(registers, sources)];
  }

  /** How the askings of each node went. */
  get askings(): Askings {
    return this.#askings;
  }

  probed(probed: Probed): void {
    const { cluster, question, outcome, durationMs } = probed;
    this.#askings.count(probed, this.#sources.wall());
    if (outcome !== "skipped") this.#durations.observe(cluster, question, durationMs / 1000);
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
    this.#askings.forget();
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
    const views = await inSlices(viewNodes(this.#sources));
    const nodes = await renderPage([
      this.#durations.family(),
      ...nodeMetrics(views),
      ...askingMetrics(this.#askings.all()),
      ...this.#nodesOwn(views),
    ]);
    return { pieces: [Buffer.from(own), ...nodes], contentType: expositionType };
  }

  /** What the nodes themselves, and an exporter of each, would show. */
  #nodesOwn(views: readonly NodeView[]): readonly Family[] {
    const { naming, disableIntro, namespace } = this.#sources.exporter();
    const manager = managerFamilies(views, naming);
    if (disableIntro) return manager;
    const known = new Map<NodeView, readonly Asked[]>();
    const askedOf = (view: NodeView): readonly Asked[] => {
      const asked = known.get(view) ?? this.#askedOf(view);
      known.set(view, asked);
      return asked;
    };
    const facts = { naming, namespace, build: buildInfo(this.#sources.version), uptimeS: process.uptime(), askedOf };
    return [...exporterFamilies(views, facts), ...manager];
  }

  #askedOf({ sight, observation }: NodeView): readonly Asked[] {
    return collectorsOfNode(sight.part.name, observation.node, this.#sources.asks()).flatMap((collector) => {
      const asking = this.#askings.of(collector.cluster, collector.node, collector.question);
      return asking === null ? [] : [{ collector, asking }];
    });
  }
}

/** Each group of metrics that is read at a scrape gives the function that brings it up to date. */
function processMetrics(registers: Registry[], { workers, lostLogLines }: MetricSources): () => void {
  const memory = new Gauge({ name: "process_resident_memory_bytes", help: "Resident memory, of the workers too.", registers });
  const cpu = new Counter({ name: "process_cpu_seconds_total", help: "Processor time spent, by the workers too.", registers });
  const started = new Gauge({ name: "process_start_time_seconds", help: "When this process started, in seconds since 1970.", registers });
  const count = new Gauge({ name: "rolecall_workers", help: "Processes that answer beside the one that probes.", registers });
  const lost = new Counter({ name: "rolecall_workers_lost_total", help: "Workers that ended unasked and were replaced.", registers });
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
  const snapshots = new Counter({ name: "rolecall_snapshots_total", help: "Snapshots made: one for each probe recorded.", registers });
  return () => {
    answers.reset();
    for (const { route, status, count } of sources.answers()) answers.inc({ route, status: String(status) }, count);
    snapshots.reset();
    snapshots.inc(sources.snapshot().sequence);
  };
}
