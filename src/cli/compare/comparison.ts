/** What one side said of a check: a yes, or a no and why. */
export interface CheckResult {
  readonly fit: boolean;
  /** The status and reason of a no, as `503 lagging`; `silent` where there was no answer. */
  readonly word: string;
}

/** How the two sides of one check of one node got on. */
export interface Counted {
  readonly node: string;
  readonly check: string;
  askings: number;
  agreements: number;
  /** By what each said, as `node 200, rolecall 503 detached`. */
  readonly differences: Map<string, number>;
  /** The same, only those that lasted longer than a change takes to be seen. */
  readonly lasting: Map<string, { readonly isOurYes: boolean; count: number }>;
  /** Changes that both saw: who was first, and by how many ms. */
  readonly firsts: { readonly rolecall: number[]; readonly node: number[]; together: number };
  /** Changes that one side took back before the other followed. */
  readonly blips: { rolecall: number; node: number };
}

interface Pair {
  readonly counted: Counted;
  agreed: boolean | null;
  moved: { readonly by: "rolecall" | "node"; readonly atMs: number } | null;
}

/** More lead times than a report needs; the first ones are kept. */
const leadsMax = 1_000;

/** Counts agreements and differences between nodes and rolecall, and who followed a change first. */
export class Comparison {
  readonly #graceMs: number;
  readonly #pairs = new Map<string, Pair>();

  /** @param graceMs how long the two may differ while a change is being seen */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** One for each node and check, in the order of their names. */
  get rows(): readonly Counted[] {
    return [...this.#pairs].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, { counted }]) => counted);
  }

  /** Takes one asking of both sides in. */
  add(
    what: { readonly node: string; readonly check: string; readonly atMs: number },
    node: CheckResult,
    rolecall: CheckResult,
  ): void {
    const pair = this.#pair(what.node, what.check);
    const { counted } = pair;
    counted.askings += 1;
    if (node.fit === rolecall.fit) {
      counted.agreements += 1;
      settle(pair, node.fit, what.atMs);
      return;
    }
    const key = `node ${node.word}, rolecall ${rolecall.word}`;
    counted.differences.set(key, (counted.differences.get(key) ?? 0) + 1);
    pair.moved ??= { by: pair.agreed === node.fit ? "rolecall" : "node", atMs: what.atMs };
    if (what.atMs - pair.moved.atMs < this.#graceMs) return;
    const known = counted.lasting.get(key);
    if (known === undefined) counted.lasting.set(key, { isOurYes: rolecall.fit, count: 1 });
    else known.count += 1;
  }

  #pair(node: string, check: string): Pair {
    const key = `${node} ${check}`;
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      const counted = {
        node,
        check,
        askings: 0,
        agreements: 0,
        differences: new Map(),
        lasting: new Map(),
        firsts: { rolecall: [], node: [], together: 0 },
        blips: { rolecall: 0, node: 0 },
      };
      this.#pairs.set(key, (pair = { counted, agreed: null, moved: null }));
    }
    return pair;
  }
}

/** Both say the same again: who had moved was first, or took it back. */
function settle(pair: Pair, fit: boolean, atMs: number): void {
  const { counted, moved } = pair;
  const isChange = pair.agreed !== null && pair.agreed !== fit;
  if (moved === null && isChange) counted.firsts.together += 1;
  if (moved !== null && isChange && counted.firsts[moved.by].length < leadsMax)
    counted.firsts[moved.by].push(atMs - moved.atMs);
  if (moved !== null && pair.agreed === fit) counted.blips[moved.by] += 1;
  pair.agreed = fit;
  pair.moved = null;
}
