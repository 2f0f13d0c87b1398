import { setTimeout as sleep } from "node:timers/promises";
import { sendRequest } from "../../test/fake/http-request.ts";

/** How often an edge is asked, in ms. */
const paceMs = 5;

/** When each edge says yes to a primary for the first time after a change. */
export class Sightings {
  /** How long after the first edge each other one said yes, in ms, in order. */
  #delaysMs: number[] = [];
  /** How often an edge did not say yes to a new primary that another one has named. */
  lonely = 0;
  readonly #edges: readonly string[];
  readonly #nodes: readonly string[];
  /** The primary before the change, and node -> edge -> when it was named first. */
  #seen = new Map<string, Map<string, number>>();
  #named = new Map<string, string>();
  #before = "";
  #isOver = false;

  /** @param edges the addresses of one cluster at each edge */
  constructor(edges: readonly string[], nodes: readonly string[]) {
    this.#edges = edges;
    this.#nodes = nodes;
  }

  get delaysMs(): readonly number[] {
    return this.#delaysMs.toSorted((one, other) => one - other);
  }

  /** Asks all edges until `stop`. */
  async watch(): Promise<void> {
    await Promise.all(this.#edges.map((edge) => this.#watchEdge(edge)));
  }

  /** A change follows. */
  begin(): void {
    this.#before = [...this.#named.values()][0] ?? "";
    this.#seen = new Map();
  }

  /** The change is over. */
  end(): void {
    for (const [node, byEdge] of this.#seen) {
      if (node === this.#before) continue;
      const firstMs = Math.min(...byEdge.values());
      this.#delaysMs.push(...[...byEdge.values()].map((atMs) => atMs - firstMs).filter((ms) => ms > 0));
      this.lonely += this.#edges.length - byEdge.size;
    }
  }

  stop(): void {
    this.#isOver = true;
  }

  async #watchEdge(edge: string): Promise<void> {
    while (!this.#isOver) {
      for (const node of this.#nodes) {
        const { status } = await sendRequest(`${edge}/nodes/${node}/primary`);
        if (status !== 200) continue;
        this.#named.set(edge, node);
        const byEdge = this.#seen.get(node) ?? new Map<string, number>();
        this.#seen.set(node, byEdge);
        if (!byEdge.has(edge)) byEdge.set(edge, performance.now());
      }
      await sleep(paceMs);
    }
  }
}

/** How long some count did not grow. @param counts of each cluster */
export function longestSilenceMs(counts: () => readonly number[]): { readonly end: () => Promise<number> } {
  let longestMs = 0;
  const ending = new AbortController();
  const running = (async () => {
    let last = counts();
    const grewAtMs = last.map(() => performance.now());
    while (!ending.signal.aborted) {
      await sleep(100);
      const [now, nowMs] = [counts(), performance.now()];
      for (const [at, count] of now.entries()) {
        longestMs = Math.max(longestMs, nowMs - (grewAtMs[at] ?? nowMs));
        if (count > (last[at] ?? 0)) grewAtMs[at] = nowMs;
      }
      last = now;
    }
  })();
  return {
    end: async () => {
      ending.abort();
      await running;
      return longestMs;
    },
  };
}
