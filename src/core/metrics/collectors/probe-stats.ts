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

/** The rows of one cluster: node -> endpoint -> row. A joined key would be built, and hashed, for each probe. */
type RowsOfCluster = Map<string, Map<string, MutableProbeStat>>;

/** Counts probes by node and endpoint. Forgotten at a reload, as an exporter's statistics are. */
export class ProbeStats {
  readonly #clusters = new Map<string, RowsOfCluster>();
  #size = 0;

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
    return this.#clusters.get(cluster)?.get(node)?.get(endpoint) ?? null;
  }

  /** All rows, cluster by cluster and node by node. */
  *all(): Iterable<ProbeStat> {
    for (const nodes of this.#clusters.values()) for (const rows of nodes.values()) yield* rows.values();
  }

  forget(): void {
    this.#clusters.clear();
    this.#size = 0;
  }

  /**
   * Forgets the clusters that a reload has removed. Probes that were in flight during the reload are counted after it.
   * @param clusters the names of the present clusters
   */
  keepOnly(clusters: ReadonlySet<string>): void {
    for (const [name, nodes] of this.#clusters) {
      if (clusters.has(name)) continue;
      for (const rows of nodes.values()) this.#size -= rows.size;
      this.#clusters.delete(name);
    }
  }

  #row(record: ProbeRecord): MutableProbeStat | null {
    return this.#clusters.get(record.cluster)?.get(record.node)?.get(record.endpoint) ?? this.#open(record);
  }

  /** Begins a row, unless there are too many. */
  #open({ cluster, node, endpoint }: ProbeRecord): MutableProbeStat | null {
    if (this.#size >= rowsMax) return null;
    const nodes: RowsOfCluster = this.#clusters.get(cluster) ?? new Map();
    const rows = nodes.get(node) ?? new Map<string, MutableProbeStat>();
    const counts = { total: 0, errors: 0, skipped: 0, totalMs: 0, lastMs: 0, lastAtWallMs: null, hasLastFailed: false };
    const row: MutableProbeStat = { cluster, node, endpoint, outcomes: new Map(), ...counts };
    this.#clusters.set(cluster, nodes.set(node, rows.set(endpoint, row)));
    this.#size += 1;
    return row;
  }
}
