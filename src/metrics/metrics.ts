import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { nodeMetrics } from "./node-metrics.ts";
import type { MetricSources } from "./sources.ts";

/** One asking of a node that is over. */
export interface Probed {
  readonly cluster: string;
  readonly node: string;
  readonly question: string;
  readonly outcome: string;
  readonly durationMs: number;
}

/** What we say about ourselves and about the nodes, in the exposition format. A scrape reads memory. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #probes: Counter<"cluster" | "node" | "question" | "outcome">;
  readonly #durations: Histogram<"cluster" | "question">;
  readonly #series = new Map<string, { readonly count: Counter.Internal; readonly duration: Histogram.Internal<"cluster" | "question"> }>();
  readonly #reloads: Counter<"outcome">;
  readonly #disputes: Counter<"cluster">;
  readonly #refreshers: readonly (() => void)[];

  constructor(sources: MetricSources) {
    const registers = [this.#registry];
    this.#probes = new Counter({
      name: "rolecall_probes_total",
      help: "Askings of a node by what was asked and how it ended.",
      labelNames: ["cluster", "node", "question", "outcome"],
      registers,
    });
    this.#durations = new Histogram({
      name: "rolecall_probe_duration_seconds",
      help: "How long askings took, answered or not.",
      labelNames: ["cluster", "question"],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    });
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
    this.#refreshers = [processMetrics(registers), answerMetrics(registers, sources), nodeMetrics(registers, sources)];
  }

  probed({ cluster, node, question, outcome, durationMs }: Probed): void {
    // Finding a series by its labels costs more than counting in it; names hold no line breaks.
    const key = `${cluster}\n${node}\n${question}\n${outcome}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      const duration = this.#durations.labels({ cluster, question });
      this.#series.set(key, (series = { count: this.#probes.labels({ cluster, node, question, outcome }), duration }));
    }
    series.count.inc();
    series.duration.observe(durationMs / 1000);
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
    this.#probes.reset();
    this.#series.clear();
  }

  /** All metrics as text, and the content type to send it with. */
  async render(): Promise<{ readonly text: string; readonly contentType: string }> {
    for (const refresh of this.#refreshers) refresh();
    return { text: await this.#registry.metrics(), contentType: this.#registry.contentType };
  }
}

/** Each group of metrics that is read at a scrape gives the function that brings it up to date. */
function processMetrics(registers: Registry[]): () => void {
  const memory = new Gauge({ name: "process_resident_memory_bytes", help: "Resident memory of this process.", registers });
  const cpu = new Counter({ name: "process_cpu_seconds_total", help: "Processor time spent by this process.", registers });
  const started = new Gauge({ name: "process_start_time_seconds", help: "When this process started, in seconds since 1970.", registers });
  started.set(Math.round(Date.now() / 1000 - process.uptime()));
  return () => {
    memory.set(process.memoryUsage.rss());
    const { user, system } = process.cpuUsage();
    cpu.reset();
    cpu.inc((user + system) / 1e6);
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
