import { labelsText, sampleLine, type Family } from "../exposition/writer.ts";

/** Upper bounds of the buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** More clusters times questions than any configuration has; beyond it nothing new is counted. */
const keptMax = 10_000;

interface Row {
  readonly labels: string;
  /** How many fell into each bucket, and past the last bound. */
  readonly counts: number[];
  sumS: number;
}

/** How long askings took, by cluster and question. A page of many clusters is rendered in slices, so it is counted here. */
export class Durations {
  readonly #rows = new Map<string, Row>();

  observe(cluster: string, question: string, seconds: number): void {
    const key = `${cluster}\n${question}`;
    let row = this.#rows.get(key);
    if (row === undefined) {
      if (this.#rows.size >= keptMax) return;
      row = {
        labels: labelsText({ cluster, question }),
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

  /** The histogram `rolecall_probe_duration_seconds`. */
  family(): Family {
    const name = "rolecall_probe_duration_seconds";
    const rows = this.#rows;
    function* samples(): Iterable<string> {
      for (const row of rows.values()) yield linesOf(name, row);
    }
    return { name, type: "histogram", help: "How long askings took, answered or not.", samples };
  }
}

/** Buckets count all below their bound. */
function linesOf(name: string, { labels, counts, sumS }: Row): string {
  let below = 0;
  let lines = "";
  for (const [at, count] of counts.entries()) {
    below += count;
    lines += sampleLine(`${name}_bucket`, `le="${bounds[at] ?? "+Inf"}",${labels}`, below);
  }
  return lines + sampleLine(`${name}_sum`, labels, sumS) + sampleLine(`${name}_count`, labels, below);
}
