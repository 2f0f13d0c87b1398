/** For how many nodes the lag over a time is collected: their values are in memory while a request is answered. */
const nodesMax = 256;

/** The time of a lag series, in ms since the epoch. */
interface LagTime {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The lag of the nodes of one cluster over a time. */
export interface LagOverTime {
  /** The beginning of each step, in ms since the epoch. Steps without a sample are left out. */
  readonly at: readonly number[];
  /** For each node the highest lag in bytes in these steps: `null` where it was unknown, or where the node led. */
  readonly nodes: { readonly [node: string]: readonly (number | null)[] };
}

/**
 * Collects the lag of nodes over a time in steps of equal length, so that any time gives a bounded number of values. A
 * step keeps the highest value: a short peak stays visible.
 */
export class LagSteps {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly #steps = new Set<number>();
  readonly #nodes = new Map<string, Map<number, number>>();

  /** @param stepMs the length of a step, in ms */
  constructor({ fromMs, toMs }: LagTime, stepMs: number) {
    this.fromMs = fromMs;
    this.toMs = toMs;
    this.stepMs = stepMs;
  }

  /** Adds one sample. A sample of another time is left out. @param atMs ms since the epoch */
  add(atMs: number, lags: Iterable<readonly [string, number | null]>): void {
    if (atMs < this.fromMs || atMs > this.toMs) return;
    const step = Math.floor(atMs / this.stepMs);
    this.#steps.add(step);
    for (const [node, lag] of lags) {
      let values = this.#nodes.get(node);
      if (values === undefined) {
        if (this.#nodes.size >= nodesMax) continue;
        this.#nodes.set(node, (values = new Map()));
      }
      if (lag !== null) values.set(step, Math.max(lag, values.get(step) ?? 0));
    }
  }

  /** What was added, in the order of time. */
  get series(): LagOverTime {
    const steps = [...this.#steps].sort((one, other) => one - other);
    const nodes = [...this.#nodes].map(([node, values]) => [node, steps.map((step) => values.get(step) ?? null)]);
    return { at: steps.map((step) => step * this.stepMs), nodes: Object.fromEntries(nodes) };
  }
}
