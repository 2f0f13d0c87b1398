import { Registry } from "prom-client";
import { expositionType, inSlices, renderPage, type Family } from "../exposition/writer.ts";
import { ClusterCounts } from "./cluster-counts.ts";
import { buildInfo } from "./collectors/build-info.ts";
import { collectorsOfNode } from "./collectors/collectors.ts";
import { ProbeStats, type ProbeRecord } from "./collectors/probe-stats.ts";
import { clusterMetrics } from "./nodes/cluster-metrics.ts";
import { nodeMetrics, probeMetrics } from "./nodes/node-metrics.ts";
import { nodeSeries, type NodeSeries } from "./nodes/node-series.ts";
import { managerFamilies } from "./nodes/patroni-metrics.ts";
import { exporterFamilies, type ProbedCollector } from "./nodes/pg-exporter-metrics.ts";
import { OwnMetrics, ReadMetrics } from "./own-metrics.ts";
import type { MetricSources } from "./sources.ts";

/** A page of metrics, as it is sent. */
export interface MetricsPage {
  readonly pieces: readonly Buffer[];
  readonly contentType: string;
}

/** Our own metrics and those of the nodes, in the text exposition format. A scrape reads memory only. */
export class Metrics {
  /** What is counted where something happens. */
  readonly own: OwnMetrics;
  /** How the probes of each node went. */
  readonly probeStats: ProbeStats = new ProbeStats();
  readonly #registry = new Registry();
  readonly #sources: MetricSources;
  readonly #read: ReadMetrics;
  readonly #clusters: ClusterCounts;
  #rendering: Promise<MetricsPage> | null = null;

  constructor(sources: MetricSources) {
    this.#sources = sources;
    this.own = new OwnMetrics(this.#registry, sources.counted);
    this.#read = new ReadMetrics(sources);
    this.#clusters = new ClusterCounts(sources.eventKinds);
  }

  /** Counts a probe that has finished. */
  probed(record: ProbeRecord): void {
    const { cluster, endpoint, outcome, durationMs } = record;
    this.probeStats.count(record, this.#sources.wall());
    if (outcome !== "skipped") this.#clusters.countProbe(cluster, endpoint, durationMs / 1000);
  }

  /** Counts an episode in which it is undecided who leads. */
  disputed(cluster: string): void {
    this.own.count("disputes", { cluster });
  }

  /** Counts an event. `cluster` is `null` for one of rolecall itself. */
  happened({ cluster, kind }: { readonly cluster: string | null; readonly kind: string }): void {
    this.#clusters.countEvent(cluster, kind);
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
    await this.own.keepOnly(clusters);
    this.#clusters.keepOnly(clusters);
    this.probeStats.keepOnly(clusters);
    const own = await this.#registry.metrics();
    // Their nodes have series where they are probed.
    const nodes = await inSlices(nodeSeries(this.#sources, this.#sources.fed()));
    const nodePieces = await renderPage([
      ...this.#read.families(),
      ...this.#clusters.families(clusters),
      ...clusterMetrics(this.#sources),
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
