import { labelsText, sampleLine, type Family } from "../exposition/writer.ts";

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** More clusters times endpoints than any configuration has. Beyond it nothing new is counted. */
const rowsMax = 10_000;

interface Row {
  readonly cluster: string;
  readonly labels: string;
  /** How many durations fell into each bucket, and above the last bound. */
  readonly counts: number[];
  sumS: number;
}

/**
 * How long probes took, by cluster and endpoint. Kept here, not by prom-client, so that a page of many clusters is
 * rendered in slices.
 */
export class Durations {
  readonly #rows = new Map<string, Row>();

  observe(cluster: string, endpoint: string, seconds: number): void {
    const key = `${cluster}\n${endpoint}`;
    let row = this.#rows.get(key);
    if (row === undefined) {
      if (this.#rows.size >= rowsMax) return;
      row = {
        cluster,
        labels: labelsText({ cluster, question: endpoint }),
        counts: Array.from({ length: bounds.length + 1 }, () => 0),
        sumS: 0,
      };
      this.#rows.set(key, row);
    }
    const at = bounds.findIndex((bound) => seconds <= bound);
    const bucket = at < 0 ? bounds.length : at;
    row.counts[bucket] = (row.counts[bucket] ?? 0) + 1;
    row.sumS += seconds;
  }

  /** The histogram `rolecall_probe_duration_seconds`. Forgets all other clusters. @param clusters the present ones */
  family(clusters: ReadonlySet<string>): Family {
    const name = "rolecall_probe_duration_seconds";
    const rows = this.#rows;
    for (const [key, { cluster }] of rows) if (!clusters.has(cluster)) rows.delete(key);
    function* samples(): Iterable<string> {
      for (const row of rows.values()) yield linesOf(name, row);
    }
    return { name, type: "histogram", help: "How long probes took, answered or not.", samples };
  }
}

/** Each bucket counts every duration up to its bound. */
function linesOf(name: string, { labels, counts, sumS }: Row): string {
  let cumulative = 0;
  let lines = "";
  for (const [at, count] of counts.entries()) {
    cumulative += count;
    lines += sampleLine(`${name}_bucket`, `le="${bounds[at] ?? "+Inf"}",${labels}`, cumulative);
  }
  return lines + sampleLine(`${name}_sum`, labels, sumS) + sampleLine(`${name}_count`, labels, cumulative);
}
