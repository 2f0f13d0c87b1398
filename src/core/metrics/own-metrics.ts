import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { labelsText, sampleLine, type Family } from "../exposition/writer.ts";
import { type CountedMetric, type CountedMetrics, coreCounted } from "./counted-metrics.ts";
import type { BroughtMetric, MetricSamples } from "./brought-metric.ts";
import type { MetricSources } from "./sources.ts";

type NameOf<Type extends CountedMetric["type"]> = {
  [Name in keyof CountedMetrics]: CountedMetrics[Name]["type"] extends Type ? Name : never;
}[keyof CountedMetrics];
type LabelsOf<Name extends keyof CountedMetrics> = Readonly<Record<CountedMetrics[Name]["labels"][number], string>>;

/** Counts what happens, in rolecall's own metrics. */
export class OwnMetrics {
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #histograms = new Map<string, Histogram>();

  /** @param ofFeatures what features count, by their names in {@link CountedMetrics} */
  constructor(registry: Registry, ofFeatures: Readonly<Record<string, CountedMetric>>) {
    for (const [key, metric] of Object.entries<CountedMetric>({ ...coreCounted, ...ofFeatures })) {
      const { name, help, labels, buckets = [], zeros = [] } = metric;
      const options = { name, help, labelNames: [...labels], registers: [registry] };
      if (metric.type === "gauge") this.#gauges.set(key, new Gauge(options));
      else if (metric.type === "histogram")
        this.#histograms.set(key, new Histogram({ ...options, buckets: [...buckets] }));
      else {
        const counter = new Counter(options);
        for (const zero of zeros) counter.inc(zero, 0);
        this.#counters.set(key, counter);
      }
    }
  }

  /** Adds to a counter. @param by how much, 1 if left out */
  count<Name extends NameOf<"counter">>(name: Name, labels: LabelsOf<Name>, by: number = 1): void {
    this.#counters.get(name)?.inc(labels, by);
  }

  set<Name extends NameOf<"gauge">>(name: Name, labels: LabelsOf<Name>, value: number): void {
    this.#gauges.get(name)?.set(labels, value);
  }

  /** Adds a duration to a histogram. @param durationMs in ms */
  observe<Name extends NameOf<"histogram">>(name: Name, labels: LabelsOf<Name>, durationMs: number): void {
    this.#histograms.get(name)?.observe(labels, durationMs / 1000);
  }

  /** Drops a sample of a gauge. */
  remove<Name extends NameOf<"gauge">>(name: Name, labels: LabelsOf<Name>): void {
    this.#gauges.get(name)?.remove(labels);
  }

  /**
   * Drops the samples of all other clusters, which a reload has removed. The label `cluster` is empty for what belongs
   * to no cluster: such samples stay.
   */
  async keepOnly(clusters: ReadonlySet<string>): Promise<void> {
    for (const metric of [...this.#counters.values(), ...this.#histograms.values()]) {
      for (const { labels } of (await metric.get()).values) {
        // prom-client adds `le` to the buckets of a histogram. It is no label of the series.
        const { le: _, ...seriesLabels }: Partial<Record<string, string | number>> = labels;
        const { cluster = "" } = seriesLabels;
        if (cluster !== "" && !clusters.has(String(cluster))) metric.remove(seriesLabels);
      }
    }
  }
}

/** A metric of rolecall itself that is read at a scrape. */
interface ReadMetric extends Omit<BroughtMetric, "read"> {
  readonly read: (sources: MetricSources) => MetricSamples;
}

const readMetrics: readonly ReadMetric[] = [
  {
    type: "gauge",
    name: "rolecall_build_info",
    help: "Always 1: its labels are the versions of rolecall and of Node.js.",
    read: ({ version }) => [[{ version, node: process.versions.node }, 1]],
  },
  {
    type: "gauge",
    name: "process_resident_memory_bytes",
    help: "Resident memory, of the workers too.",
    read: ({ workers }) => process.memoryUsage.rss() + (workers()?.residentBytes ?? 0),
  },
  {
    type: "gauge",
    name: "process_start_time_seconds",
    help: "When this process started, in seconds since 1970.",
    read: () => startedS,
  },
  {
    type: "counter",
    name: "process_cpu_seconds_total",
    help: "Processor time spent, by the workers too.",
    read: ({ workers }) => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6 + (workers()?.cpuS ?? 0);
    },
  },
  {
    type: "gauge",
    name: "rolecall_workers",
    help: "Processes that answer in addition to the one that probes.",
    read: ({ workers }) => workers()?.count ?? 0,
  },
  {
    type: "counter",
    name: "rolecall_workers_lost_total",
    help: "Workers that exited unexpectedly and were replaced.",
    read: ({ workers }) => workers()?.lost ?? 0,
  },
  {
    type: "counter",
    name: "rolecall_log_lines_lost_total",
    help: "Log lines lost because stderr was not read.",
    read: ({ lostLogLines }) => lostLogLines(),
  },
  {
    type: "counter",
    name: "rolecall_snapshots_total",
    help: "Snapshots made: one for each probe recorded.",
    read: ({ snapshot }) => snapshot().sequence,
  },
  {
    type: "counter",
    name: "rolecall_answers_total",
    help: "Answers on health listeners by route and status.",
    read: ({ answers }) => [...answers()].map(({ route, status, count }) => [{ route, status: String(status) }, count]),
  },
  {
    type: "counter",
    name: "rolecall_fast_path_requests_total",
    help: "Requests answered on the fast path, without node:http.",
    read: ({ fastPath }) => fastPath().requests,
  },
  {
    type: "counter",
    name: "rolecall_fast_path_fallbacks_total",
    help: "Connections that left the fast path for node:http, by reason.",
    read: ({ fastPath }) => byLabel("reason", fastPath().fallbacks),
  },
  {
    type: "counter",
    name: "rolecall_fast_path_trips_total",
    help: "Processes in which something unexpected ended the use of the fast path.",
    read: ({ fastPath }) => fastPath().trips,
  },
  {
    type: "gauge",
    name: "rolecall_config_loaded_timestamp_seconds",
    help: "When the configuration in force was loaded, in seconds since 1970.",
    read: ({ configInForce }) => configInForce().loadedAtMs / 1000,
  },
  {
    type: "gauge",
    name: "rolecall_config_problems",
    help: "Problems for which the last reload was refused; 0 if it was applied.",
    read: ({ configInForce }) => configInForce().refused?.problems ?? 0,
  },
  {
    type: "gauge",
    name: "rolecall_certificate_expiry_timestamp_seconds",
    help: "When the certificate of a listener, or the one presented to a cluster's nodes (usage client), expires.",
    read: ({ certificates }) =>
      certificates().map(({ usage, owner, file, expiresAtS }) => [
        { usage, [usage === "listener" ? "listener" : "cluster"]: owner, file },
        expiresAtS,
      ]),
  },
];

const startedS = Math.round(Date.now() / 1000 - process.uptime());

function byLabel(label: string, values: Readonly<Record<string, number>>): readonly [Record<string, string>, number][] {
  return Object.entries(values).map(([value, count]) => [{ [label]: value }, count]);
}

/** The metrics that are read at a scrape. */
export class ReadMetrics {
  readonly #sources: MetricSources;
  /** The highest value of each counter so far: it never decreases, not even when a worker exits before it reports. */
  readonly #highest = new Map<string, number>();

  constructor(sources: MetricSources) {
    this.#sources = sources;
  }

  families(): readonly Family[] {
    return [...readMetrics, ...this.#sources.ofFeatures()].map((metric) => ({
      ...metric,
      samples: () => this.#samples(metric),
    }));
  }

  *#samples({ type, name, read }: ReadMetric): Iterable<string> {
    const found = read(this.#sources);
    if (found === null) return;
    const sums = new Map<string, number>();
    for (const [labels, value] of typeof found === "number" ? [[{}, found] as const] : found) {
      const text = labelsText(labels);
      sums.set(text, value + (sums.get(text) ?? 0));
    }
    for (const [labels, value] of sums)
      yield sampleLine(name, labels, type === "counter" ? this.#raise(`${name}{${labels}}`, value) : value);
  }

  #raise(key: string, value: number): number {
    const highest = Math.max(value, this.#highest.get(key) ?? 0);
    this.#highest.set(key, highest);
    return highest;
  }
}
