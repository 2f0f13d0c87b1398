/** A probe of a node that has finished, or was skipped. */
export interface ProbeRecord {
  readonly cluster: string;
  readonly node: string;
  readonly endpoint: string;
  /** `answered`, `skipped`, or the failure's kind. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** Statistics of the probes of one endpoint of one node. */
export interface ProbeStat {
  readonly cluster: string;
  readonly node: string;
  readonly endpoint: string;
  /** How often each outcome occurred, except `skipped`. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly total: number;
  readonly errors: number;
  /** How often it was skipped because the node did not answer. */
  readonly skipped: number;
  readonly totalMs: number;
  readonly lastMs: number;
  /** When the last probe finished, in ms since the epoch; `null` before that. */
  readonly lastAtWallMs: number | null;
  readonly hasLastFailed: boolean;
}

type MutableProbeStat = { -readonly [Key in keyof ProbeStat]: ProbeStat[Key] } & {
  readonly outcomes: Map<string, number>;
};

/** More endpoints than the largest configuration has. Beyond it nothing new is counted. */
const rowsMax = 50_000;

/** Counts probes by node and endpoint. Forgotten at a reload, as an exporter's statistics are. */
export class ProbeStats {
  readonly #rows = new Map<string, MutableProbeStat>();

  count(record: ProbeRecord, atWallMs: number): void {
    const row = this.#row(record);
    if (row === null) return;
    if (record.outcome === "skipped") {
      row.skipped += 1;
      return;
    }
    const isAnswered = record.outcome === "answered";
    row.total += 1;
    row.outcomes.set(record.outcome, (row.outcomes.get(record.outcome) ?? 0) + 1);
    if (!isAnswered) row.errors += 1;
    row.totalMs += record.durationMs;
    row.lastMs = record.durationMs;
    row.lastAtWallMs = atWallMs;
    row.hasLastFailed = !isAnswered;
  }

  /** The statistics of one endpoint of one node; `null` before its first probe. */
  of(cluster: string, node: string, endpoint: string): ProbeStat | null {
    return this.#rows.get(keyOf(cluster, node, endpoint)) ?? null;
  }

  all(): Iterable<ProbeStat> {
    return this.#rows.values();
  }

  forget(): void {
    this.#rows.clear();
  }

  /**
   * Forgets the clusters that a reload has removed. Probes that were in flight during the reload are counted after it.
   * @param clusters the names of the present clusters
   */
  keepOnly(clusters: ReadonlySet<string>): void {
    for (const [key, { cluster }] of this.#rows) if (!clusters.has(cluster)) this.#rows.delete(key);
  }

  #row({ cluster, node, endpoint }: ProbeRecord): MutableProbeStat | null {
    const key = keyOf(cluster, node, endpoint);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    if (this.#rows.size >= rowsMax) return null;
    const counts = { total: 0, errors: 0, skipped: 0, totalMs: 0, lastMs: 0, lastAtWallMs: null, hasLastFailed: false };
    const row: MutableProbeStat = { cluster, node, endpoint, outcomes: new Map(), ...counts };
    this.#rows.set(key, row);
    return row;
  }
}

/** Names of clusters and endpoints contain no line break. */
function keyOf(cluster: string, node: string, endpoint: string): string {
  return `${cluster}\n${endpoint}\n${node}`;
}
