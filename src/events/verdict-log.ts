import type { LoggedChange } from "../health/explain/summary.ts";
import type { VerdictChange } from "./verdict-changes.ts";

/** Changes kept of each node. */
const keptMax = 100;
/** Nodes remembered altogether; the one that changed longest ago goes first. */
const nodesMax = 5_000;

/** The last changes of every node, so that a person can read back what happened. */
export class VerdictLog {
  readonly #nodes = new Map<string, LoggedChange[]>();

  add({ cluster, node, before, after, failure }: VerdictChange, atWallMs: number): void {
    const key = keyOf(cluster, node);
    const changes = this.#nodes.get(key) ?? [];
    changes.push({ atWallMs, before, after, failure });
    if (changes.length > keptMax) changes.shift();
    this.#nodes.delete(key);
    this.#nodes.set(key, changes);
    const [oldest] = this.#nodes.keys();
    if (this.#nodes.size > nodesMax && oldest !== undefined) this.#nodes.delete(oldest);
  }

  /** The changes of one node, oldest first. */
  of(cluster: string, node: string): readonly LoggedChange[] {
    return this.#nodes.get(keyOf(cluster, node)) ?? [];
  }
}

/** No cluster name holds a slash. */
function keyOf(cluster: string, node: string): string {
  return `${cluster}/${node}`;
}
