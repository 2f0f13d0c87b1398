import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Snapshot } from "../cluster/snapshot.ts";
import { lagBytes } from "../health/position.ts";
import type { Settings } from "../health/settings.ts";
import { look } from "../health/sight.ts";
import { summarize } from "./summary.ts";

/** What the metrics are read from at a scrape. The app hands it in. */
export interface MetricSources {
  readonly snapshot: () => Snapshot;
  readonly settings: (cluster: string) => Settings | undefined;
  /** Our clock, in ms. */
  readonly now: () => number;
  readonly answers: () => Iterable<{ readonly route: string; readonly status: number; readonly count: number }>;
}

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
  readonly #reloads: Counter<"outcome">;

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
    addProcessMetrics(registers);
    addAnswerMetrics(registers, sources);
    addNodeMetrics(registers, sources);
  }

  probed({ cluster, node, question, outcome, durationMs }: Probed): void {
    this.#probes.inc({ cluster, node, question, outcome });
    this.#durations.observe({ cluster, question }, durationMs / 1000);
  }

  reloaded(outcome: "applied" | "refused"): void {
    this.#reloads.inc({ outcome });
  }

  /** Drops what is counted per node, so that nodes that are gone do not stay for ever. */
  forgetNodes(): void {
    this.#probes.reset();
  }

  /** All metrics as text, and the content type to send it with. */
  async render(): Promise<{ readonly text: string; readonly contentType: string }> {
    return { text: await this.#registry.metrics(), contentType: this.#registry.contentType };
  }
}

function addProcessMetrics(registers: Registry[]): void {
  const memory = new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of this process.",
    registers,
    collect: () => memory.set(process.memoryUsage.rss()),
  });
  const started = new Gauge({ name: "process_start_time_seconds", help: "When this process started, in seconds since 1970.", registers });
  started.set(Math.round(Date.now() / 1000 - process.uptime()));
}

function addAnswerMetrics(registers: Registry[], sources: MetricSources): void {
  const answers = new Counter({
    name: "rolecall_answers_total",
    help: "Answers given on health listeners by route and status.",
    labelNames: ["route", "status"],
    registers,
    collect: () => {
      answers.reset();
      for (const { route, status, count } of sources.answers()) answers.inc({ route, status: String(status) }, count);
    },
  });
  const snapshots = new Counter({
    name: "rolecall_snapshots_total",
    help: "Snapshots made: one for each probe that was recorded.",
    registers,
    collect: () => {
      snapshots.reset();
      snapshots.inc(sources.snapshot().sequence);
    },
  });
}

function addNodeMetrics(registers: Registry[], sources: MetricSources): void {
  const labelNames = ["cluster", "node"] as const;
  const age = new Gauge({ name: "rolecall_node_age_seconds", help: "Age of the node's last report.", labelNames, registers });
  const up = new Gauge({ name: "rolecall_node_up", help: "1 while the node's last probe was answered.", labelNames, registers });
  const lag = new Gauge({ name: "rolecall_node_lag_bytes", help: "Replay lag behind the leader, where known.", labelNames, registers });
  const role = new Gauge({
    name: "rolecall_node_role",
    help: "1 for the role the node reports.",
    labelNames: [...labelNames, "role"],
    registers,
  });
  const fitness = new Gauge({
    name: "rolecall_node_fit",
    help: "1 where the node is fit for the plain check, else 0 with the reason.",
    labelNames: [...labelNames, "check", "reason"],
    registers,
    collect: () => {
      for (const gauge of [age, up, lag, role, fitness]) gauge.reset();
      for (const part of sources.snapshot().parts) {
        const settings = sources.settings(part.name);
        if (settings === undefined) continue;
        const sight = look(part, settings, sources.now());
        for (const observation of part.nodes) {
          const labels = { cluster: part.name, node: observation.node.name };
          const summary = summarize(sight, observation);
          if (observation.report !== null) age.set(labels, (sight.nowMs - observation.sentAtMs) / 1000);
          up.set(labels, summary.isReachable ? 1 : 0);
          const behind = sight.standing.holder === labels.node ? 0 : lagBytes(part, observation);
          if (behind !== null) lag.set(labels, behind);
          role.set({ ...labels, role: summary.role }, 1);
          for (const check of ["primary", "replica"] as const) {
            fitness.set({ ...labels, check, reason: summary[check] === "fit" ? "" : summary[check] }, summary[check] === "fit" ? 1 : 0);
          }
        }
      }
    },
  });
}
