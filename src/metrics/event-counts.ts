import { labelsText, sampleLine, type Family } from "../exposition/writer.ts";

/**
 * How many events of each kind a cluster had. Every kind has a sample from the start, because `increase()` does not see
 * the first event of a sample that begins with 1. Kept here, not by prom-client, so that a page of many clusters is
 * rendered in slices.
 */
export class EventCounts {
  readonly #kinds: readonly string[];
  /** Cluster -> kind -> events. */
  readonly #clusters = new Map<string, Map<string, number>>();

  /** @param kinds every kind of event */
  constructor(kinds: readonly string[]) {
    this.#kinds = kinds;
  }

  count(cluster: string, kind: string): void {
    const counts = this.#clusters.get(cluster) ?? new Map<string, number>();
    this.#clusters.set(cluster, counts);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }

  /** The counter `rolecall_events_total`. Forgets all other clusters. @param clusters the present ones */
  family(clusters: ReadonlySet<string>): Family {
    for (const name of this.#clusters.keys()) if (!clusters.has(name)) this.#clusters.delete(name);
    const name = "rolecall_events_total";
    const [kinds, counted] = [this.#kinds, this.#clusters];
    function* samples(): Iterable<string> {
      for (const cluster of clusters)
        for (const kind of kinds)
          yield sampleLine(name, labelsText({ cluster, kind }), counted.get(cluster)?.get(kind) ?? 0);
    }
    return { name, type: "counter", help: "Events of a cluster by kind, as /events shows them.", samples };
  }
}
