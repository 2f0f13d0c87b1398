import { labelsText, sampleLine, type Family } from "../exposition/writer.ts";

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Every kind of event: `increase()` does not see the first event of a sample that begins with 1. */
export interface EventKinds {
  readonly cluster: readonly string[];
  /** Those of rolecall itself. */
  readonly process: readonly string[];
}

/** What is counted of one cluster. */
interface ClusterCount {
  /** Events of each kind. */
  readonly events: Map<string, number>;
  /** Durations of probes by endpoint. */
  readonly durations: Map<string, { readonly buckets: number[]; sumS: number }>;
}

/**
 * What is counted in every cluster: events by kind, and how long probes took. prom-client would render a thousand
 * clusters in one piece, and checks would wait a second for it: these families are rendered in slices.
 */
export class ClusterCounts {
  readonly #eventKinds: EventKinds;
  readonly #processEvents = new Map<string, number>();
  readonly #clusters = new Map<string, ClusterCount>();

  constructor(eventKinds: EventKinds) {
    this.#eventKinds = eventKinds;
  }

  /** @param cluster `null` for an event of rolecall itself */
  countEvent(cluster: string | null, kind: string): void {
    const events = cluster === null ? this.#processEvents : this.#of(cluster).events;
    events.set(kind, (events.get(kind) ?? 0) + 1);
  }

  /** Counts a probe, answered or not. */
  countProbe(cluster: string, endpoint: string, seconds: number): void {
    const { durations } = this.#of(cluster);
    let row = durations.get(endpoint);
    if (row === undefined) {
      row = { buckets: Array.from({ length: bounds.length + 1 }, () => 0), sumS: 0 };
      durations.set(endpoint, row);
    }
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] ?? Infinity)) at += 1;
    row.buckets[at] = (row.buckets[at] ?? 0) + 1;
    row.sumS += seconds;
  }

  /** Drops the counts of all other clusters, which a reload has removed. */
  keepOnly(clusters: ReadonlySet<string>): void {
    for (const name of this.#clusters.keys()) if (!clusters.has(name)) this.#clusters.delete(name);
  }

  families(clusters: ReadonlySet<string>): readonly Family[] {
    return [
      {
        name: "rolecall_probe_duration_seconds",
        type: "histogram",
        help: "How long probes took, answered or not.",
        samples: () => this.#durationLines(clusters),
      },
      {
        name: "rolecall_events_total",
        type: "counter",
        help: "Events by kind, as /events shows them. The cluster is empty for those of rolecall itself.",
        samples: () => this.#eventLines(clusters),
      },
    ];
  }

  #of(cluster: string): ClusterCount {
    let known = this.#clusters.get(cluster);
    if (known === undefined) this.#clusters.set(cluster, (known = { events: new Map(), durations: new Map() }));
    return known;
  }

  *#eventLines(clusters: ReadonlySet<string>): Iterable<string> {
    for (const cluster of clusters) {
      const counted = this.#clusters.get(cluster)?.events;
      for (const kind of this.#eventKinds.cluster)
        yield sampleLine("rolecall_events_total", labelsText({ cluster, kind }), counted?.get(kind) ?? 0);
    }
    for (const kind of this.#eventKinds.process) {
      const count = this.#processEvents.get(kind) ?? 0;
      yield sampleLine("rolecall_events_total", labelsText({ cluster: "", kind }), count);
    }
  }

  /** Each bucket counts every duration up to its bound. */
  *#durationLines(clusters: ReadonlySet<string>): Iterable<string> {
    const name = "rolecall_probe_duration_seconds";
    for (const cluster of clusters) {
      for (const [endpoint, { buckets, sumS }] of this.#clusters.get(cluster)?.durations ?? []) {
        const labels = labelsText({ cluster, question: endpoint });
        let [lines, cumulative] = ["", 0];
        for (const [at, count] of buckets.entries()) {
          cumulative += count;
          lines += sampleLine(`${name}_bucket`, `le="${bounds[at] ?? "+Inf"}",${labels}`, cumulative);
        }
        yield lines + sampleLine(`${name}_sum`, labels, sumS) + sampleLine(`${name}_count`, labels, cumulative);
      }
    }
  }
}
