/** One asking of a node that is over, or was left out. */
export interface ProbeRecord {
  readonly cluster: string;
  readonly node: string;
  readonly endpoint: string;
  /** `answered`, `skipped`, or the failure's kind. */
  readonly outcome: string;
  readonly durationMs: number;
}

/** How the askings of one node for one thing went so far. */
export interface ProbeStat {
  readonly cluster: string;
  readonly node: string;
  readonly endpoint: string;
  /** How often each outcome came, `skipped` not among them. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly total: number;
  readonly errors: number;
  /** How often it was left out because asking made no sense. */
  readonly skipped: number;
  readonly totalMs: number;
  readonly lastMs: number;
  /** Wall time when the last one was over, in ms; `null` while none was. */
  readonly lastAtWallMs: number | null;
  readonly hasLastFailed: boolean;
}

type Mutable = { -readonly [Key in keyof ProbeStat]: ProbeStat[Key] } & { readonly outcomes: Map<string, number> };

/** More kinds of asking than the largest configuration has; beyond it nothing new is counted. */
const keptMax = 50_000;

/** Counts the askings by node and question. Bounded by what is asked; forgotten at a reload, as an exporter's statistics are. */
export class ProbeStats {
  readonly #rows = new Map<string, Mutable>();

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

  /** The askings of one node for one thing; `null` while there was none. */
  of(cluster: string, node: string, question: string): ProbeStat | null {
    return this.#rows.get(keyOf(cluster, node, question)) ?? null;
  }

  all(): Iterable<ProbeStat> {
    return this.#rows.values();
  }

  forget(): void {
    this.#rows.clear();
  }

  #row({ cluster, node, endpoint }: ProbeRecord): Mutable | null {
    const key = keyOf(cluster, node, endpoint);
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    if (this.#rows.size >= keptMax) return null;
    const counts = { total: 0, errors: 0, skipped: 0, totalMs: 0, lastMs: 0, lastAtWallMs: null, hasLastFailed: false };
    const row: Mutable = { cluster, node, endpoint, outcomes: new Map(), ...counts };
    this.#rows.set(key, row);
    return row;
  }
}

/** No cluster and no question has a line break in its name. */
function keyOf(cluster: string, node: string, question: string): string {
  return `${cluster}\n${question}\n${node}`;
}
