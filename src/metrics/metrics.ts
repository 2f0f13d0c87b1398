import { Counter, Registry } from "prom-client";
import { expositionType, inSlices, renderPage, type Family } from "../exposition/writer.ts";
import { AgentMetrics } from "./agent-metrics.ts";
import { BalancerMetrics } from "./balancer-metrics.ts";
import { BurstMetrics } from "./burst-metrics.ts";
import { certificateMetrics } from "./certificate-metrics.ts";
import { buildInfo } from "./collectors/build-info.ts";
import { collectorsOfNode } from "./collectors/collectors.ts";
import { ProbeStats, type ProbeRecord } from "./collectors/probe-stats.ts";
import { DcsMetrics } from "./dcs-metrics.ts";
import { Durations } from "./durations.ts";
import { EventCounts } from "./event-counts.ts";
import { registerFastPathMetrics } from "./fast-path-metrics.ts";
import { registerHistoryMetrics } from "./history-metrics.ts";
import { ManagementMetrics } from "./management-metrics.ts";
import { clusterMetrics } from "./nodes/cluster-metrics.ts";
import { nodeMetrics, probeMetrics } from "./nodes/node-metrics.ts";
import { nodeSeries, type NodeSeries } from "./nodes/node-series.ts";
import { managerFamilies } from "./nodes/patroni-metrics.ts";
import { exporterFamilies, type ProbedCollector } from "./nodes/pg-exporter-metrics.ts";
import { forgetRemovedClusters } from "./removed-clusters.ts";
import { registerProcessMetrics } from "./process-metrics.ts";
import { registerStreamMetrics } from "./stream-metrics.ts";
import type { MetricSources } from "./sources.ts";

/** A page of metrics, as it is sent. */
export interface MetricsPage {
  readonly pieces: readonly Buffer[];
  readonly contentType: string;
}

/** Our own metrics and those of the nodes, in the text exposition format. A scrape reads memory only. */
export class Metrics {
  /** Metrics of management calls and listeners. */
  readonly management: ManagementMetrics;
  readonly bursts: BurstMetrics;
  readonly agents: AgentMetrics;
  readonly balancers: BalancerMetrics;
  readonly dcs: DcsMetrics;
  /** How the probes of each node went. */
  readonly probeStats: ProbeStats = new ProbeStats();
  readonly #registry = new Registry();
  readonly #sources: MetricSources;
  readonly #durations = new Durations();
  readonly #reloads: Counter<"outcome">;
  readonly #disputes: Counter<"cluster">;
  readonly #events: EventCounts;
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
    // `increase()` does not see the first reload of a sample that begins with 1.
    for (const outcome of ["applied", "refused"] as const) this.#reloads.inc({ outcome }, 0);
    this.#disputes = new Counter({
      name: "rolecall_disputes_total",
      help: "Episodes in which several nodes claimed the lock, or one that the cluster did not confirm.",
      labelNames: ["cluster"],
      registers,
    });
    this.#events = new EventCounts(sources.eventKinds);
    this.management = new ManagementMetrics(registers);
    this.bursts = new BurstMetrics(registers);
    this.agents = new AgentMetrics(registers);
    this.balancers = new BalancerMetrics(registers);
    this.dcs = new DcsMetrics(registers);
    registerFastPathMetrics(registers, sources.fastPath);
    registerProcessMetrics(registers, sources);
    registerHistoryMetrics(registers, sources.history);
    registerStreamMetrics(registers, sources.streams);
  }

  /** Counts a probe that has finished. */
  probed(record: ProbeRecord): void {
    const { cluster, endpoint, outcome, durationMs } = record;
    this.probeStats.count(record, this.#sources.wall());
    if (outcome !== "skipped") this.#durations.observe(cluster, endpoint, durationMs / 1000);
  }

  /** Counts a reload. */
  reloaded(outcome: "applied" | "refused"): void {
    this.#reloads.inc({ outcome });
  }

  /** Counts an episode in which it is undecided who leads. */
  disputed(cluster: string): void {
    this.#disputes.inc({ cluster });
  }

  /** Counts an event. */
  happened({ cluster, kind }: { readonly cluster: string; readonly kind: string }): void {
    this.#events.count(cluster, kind);
  }

  /** Drops what is counted for each node, so that removed nodes do not stay forever. */
  forgetNodes(): void {
    this.probeStats.forget();
  }

  /**
   * Renders all metrics, in slices, so that checks are not delayed. Scrapes that come while a page is being rendered
   * share it: there is never more than one rendering.
   */
  render(): Promise<MetricsPage> {
    this.#rendering ??= this.#render().finally(() => {
      this.#rendering = null;
    });
    return this.#rendering;
  }

  async #render(): Promise<MetricsPage> {
    await this.#sources.refresh();
    const clusters = new Set(this.#sources.snapshot().clusters.map(({ name }) => name));
    const { bursts, dcs, management } = this;
    const ofClusters = [this.#disputes, ...bursts.ofClusters, ...dcs.ofClusters, ...management.ofClusters];
    await forgetRemovedClusters(ofClusters, clusters);
    this.probeStats.keepOnly(clusters);
    const own = await this.#registry.metrics();
    const nodes = await inSlices(nodeSeries(this.#sources));
    const nodePieces = await renderPage([
      this.#durations.family(clusters),
      ...clusterMetrics(this.#sources),
      this.#events.family(clusters),
      certificateMetrics(this.#sources.certificates()),
      ...nodeMetrics(nodes),
      ...probeMetrics(this.probeStats.all()),
      ...this.#upstreamFamilies(nodes),
    ]);
    return { pieces: [Buffer.from(own), ...nodePieces], contentType: expositionType };
  }

  /** The metrics that the nodes themselves, and an exporter of each, would show. */
  #upstreamFamilies(nodes: readonly NodeSeries[]): readonly Family[] {
    const { naming, disableIntro, namespace } = this.#sources.exporter();
    const manager = managerFamilies(nodes, naming);
    if (disableIntro) return manager;
    const known = new Map<NodeSeries, readonly ProbedCollector[]>();
    const collectorsOf = (series: NodeSeries): readonly ProbedCollector[] => {
      const collectors = known.get(series) ?? this.#probedCollectors(series);
      known.set(series, collectors);
      return collectors;
    };
    const build = buildInfo(this.#sources.version);
    const context = { naming, namespace, build, uptimeS: process.uptime(), collectorsOf };
    return [...exporterFamilies(nodes, context), ...manager];
  }

  #probedCollectors({ view, observation }: NodeSeries): readonly ProbedCollector[] {
    return collectorsOfNode(view.cluster.name, observation.node, this.#sources.schedule()).flatMap((collector) => {
      const stat = this.probeStats.of(collector.cluster, collector.node, collector.endpoint);
      return stat === null ? [] : [{ collector, stat }];
    });
  }
}
