import type { LoggedChange } from "../health/rules/summary.ts";
import type { VerdictChange } from "./verdict-changes.ts";

/** Changes kept of each node. */
const changesMax = 100;
/** Nodes with kept changes. Beyond it, those of the node that changed longest ago are dropped. */
const nodesMax = 5_000;

/** The last changes of every node, so that a person can read what happened. */
export class VerdictHistory {
  readonly #nodes = new Map<string, LoggedChange[]>();

  /** @param atWallMs when the change was found, in ms since the epoch */
  add({ cluster, node, before, after, failure }: VerdictChange, atWallMs: number): void {
    const key = keyOf(cluster, node);
    const changes = this.#nodes.get(key) ?? [];
    changes.push({ atWallMs, before, after, failure });
    if (changes.length > changesMax) changes.shift();
    this.#nodes.delete(key);
    this.#nodes.set(key, changes);
    const [oldest] = this.#nodes.keys();
    if (this.#nodes.size > nodesMax && oldest !== undefined) this.#nodes.delete(oldest);
  }

  /** Puts changes of an earlier process before those that are known. @param changes oldest first */
  restore(changes: readonly (LoggedChange & { readonly cluster: string; readonly node: string })[]): void {
    const restored = new Map<string, LoggedChange[]>();
    for (const { cluster, node, atWallMs, before, after, failure } of changes) {
      const key = keyOf(cluster, node);
      const ofNode = restored.get(key) ?? [];
      ofNode.push({ atWallMs, before, after, failure });
      if (ofNode.length > changesMax) ofNode.shift();
      // The node that changed last comes last.
      restored.delete(key);
      restored.set(key, ofNode);
    }
    for (const [key, known] of this.#nodes)
      restored.set(key, [...(restored.get(key) ?? []), ...known].slice(-changesMax));
    this.#nodes.clear();
    for (const [key, ofNode] of [...restored].slice(-nodesMax)) this.#nodes.set(key, ofNode);
  }

  /** The changes of one node, oldest first. */
  of(cluster: string, node: string): readonly LoggedChange[] {
    return this.#nodes.get(keyOf(cluster, node)) ?? [];
  }
}

/** Names of clusters contain no slash. */
function keyOf(cluster: string, node: string): string {
  return `${cluster}/${node}`;
}
