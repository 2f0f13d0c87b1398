/** The answer of one side to a check. */
export interface CheckResult {
  readonly fit: boolean;
  /** The status, with the reason if there is one: `503 lagging`; `silent` if there was no response. */
  readonly answer: string;
}

/** The counts of one check of one node. */
export interface CheckComparison {
  readonly node: string;
  readonly check: string;
  samples: number;
  agreements: number;
  /** Counts by the answers of both sides: `node 200, rolecall 503 detached`. */
  readonly differences: Map<string, number>;
  /** As `differences`, but only those that lasted longer than the grace period. */
  readonly lasting: Map<string, { readonly isRolecallFit: boolean; count: number }>;
  /** Changes that both sides made: how many ms one side was ahead, and how often both changed in the same sample. */
  readonly leads: { readonly rolecall: number[]; readonly node: number[]; together: number };
  /** Changes that one side reverted before the other side followed. */
  readonly blips: { rolecall: number; node: number };
}

interface Pair {
  readonly counts: CheckComparison;
  /** The last verdict that both sides agreed on. */
  agreed: boolean | null;
  /** The side that changed since then, and when (ms). */
  changed: { readonly by: "rolecall" | "node"; readonly atMs: number } | null;
}

/** The maximum number of lead times kept for one check of one node; the first ones are kept. */
const leadsMax = 1_000;

/** Counts agreements and differences between nodes and rolecall, and which side followed a change first. */
export class Comparison {
  readonly #graceMs: number;
  readonly #pairs = new Map<string, Pair>();

  /** @param graceMs how long the sides may differ while a change propagates; longer differences are lasting */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** One entry per node and check, sorted by name. */
  get rows(): readonly CheckComparison[] {
    return [...this.#pairs].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, { counts }]) => counts);
  }

  /** Continues the counts of earlier runs. What the sides agreed on then may have changed since. */
  resume(rows: readonly CheckComparison[]): void {
    for (const counts of rows)
      this.#pairs.set(`${counts.node} ${counts.check}`, { counts, agreed: null, changed: null });
  }

  /** Adds one sample: the answers of both sides at the same time. */
  add(
    sample: { readonly node: string; readonly check: string; readonly atMs: number },
    node: CheckResult,
    rolecall: CheckResult,
  ): void {
    const { atMs } = sample;
    const pair = this.#pair(sample.node, sample.check);
    const { counts } = pair;
    counts.samples += 1;
    if (node.fit === rolecall.fit) {
      counts.agreements += 1;
      recordAgreement(pair, node.fit, atMs);
      return;
    }
    const key = `node ${node.answer}, rolecall ${rolecall.answer}`;
    counts.differences.set(key, (counts.differences.get(key) ?? 0) + 1);
    pair.changed ??= { by: pair.agreed === node.fit ? "rolecall" : "node", atMs };
    if (atMs - pair.changed.atMs < this.#graceMs) return;
    const known = counts.lasting.get(key);
    if (known === undefined) counts.lasting.set(key, { isRolecallFit: rolecall.fit, count: 1 });
    else known.count += 1;
  }

  #pair(node: string, check: string): Pair {
    const key = `${node} ${check}`;
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      const counts = {
        node,
        check,
        samples: 0,
        agreements: 0,
        differences: new Map(),
        lasting: new Map(),
        leads: { rolecall: [], node: [], together: 0 },
        blips: { rolecall: 0, node: 0 },
      };
      this.#pairs.set(key, (pair = { counts, agreed: null, changed: null }));
    }
    return pair;
  }
}

/** Both sides agree again: the side that had changed was first, or it has reverted its change. */
function recordAgreement(pair: Pair, fit: boolean, atMs: number): void {
  const { counts, changed } = pair;
  const isChange = pair.agreed !== null && pair.agreed !== fit;
  if (changed === null && isChange) counts.leads.together += 1;
  if (changed !== null && isChange && counts.leads[changed.by].length < leadsMax)
    counts.leads[changed.by].push(atMs - changed.atMs);
  if (changed !== null && pair.agreed === fit) counts.blips[changed.by] += 1;
  pair.agreed = fit;
  pair.changed = null;
}
