import { LRUCache } from "lru-cache";
import { askPauseMs, type AskedNode } from "../../cluster/asked-node.ts";

/** How many names are known of a cluster: its members, and names that are no members. Anyone can invent some. */
const namesMax = 256;
/** No node has a longer name. */
const nameLengthMax = 128;
/** A name that nobody asked for in so long is forgotten, in ms. */
const keptMs = 60 * 60_000;

/** When checks asked for one name, in ms of the monotonic clock. */
interface Row {
  /** The last check of any kind. */
  lastMs: number;
  /** The first and the last of those checks that named the node themselves and followed each other without a pause. */
  firstNamedMs: number;
  lastNamedMs: number;
}

interface Names {
  readonly rows: LRUCache<string, Row>;
  /** When a check of the whole cluster came, or a name was forgotten for want of space: -Infinity if never. */
  wholeMs: number;
}

/** For which nodes of each cluster checks ask. Noting a known name allocates nothing. */
export class NodeCensus {
  readonly #clusters = new Map<string, Names>();
  readonly #now: () => number;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Notes a check. A reply that is kept, for at most a second, is not noted again.
   * @param cluster a cluster of the configuration
   * @param node the name that the check asks for, known or not; `null` for the whole cluster
   * @param isNamed whether the check named the node; `false` if its listener is bound to it
   */
  note(cluster: string, node: string | null, isNamed: boolean): void {
    const nowMs = this.#now();
    const names = this.#clusters.get(cluster) ?? this.#add(cluster);
    if (node === null) names.wholeMs = nowMs;
    if (node === null || node === "" || node.length > nameLengthMax) return;
    const row = names.rows.get(node);
    if (row === undefined) {
      const namedMs = isNamed ? nowMs : -Infinity;
      names.rows.set(node, { lastMs: nowMs, firstNamedMs: namedMs, lastNamedMs: namedMs });
      return;
    }
    row.lastMs = nowMs;
    if (!isNamed) return;
    if (nowMs - row.lastNamedMs > askPauseMs) row.firstNamedMs = nowMs;
    row.lastNamedMs = nowMs;
  }

  /** What was asked for lately. */
  rows(): readonly AskedNode[] {
    const nowMs = this.#now();
    const rows: AskedNode[] = [];
    for (const [cluster, names] of this.#clusters) {
      const before = rows.length;
      if (nowMs - names.wholeMs < keptMs)
        rows.push({ cluster, node: null, agoMs: Math.round(nowMs - names.wholeMs), forMs: 0 });
      for (const [node, { lastMs, firstNamedMs, lastNamedMs }] of names.rows.entries()) {
        if (nowMs - lastMs >= keptMs) continue;
        const forMs = nowMs - lastNamedMs > askPauseMs ? 0 : Math.round(lastNamedMs - firstNamedMs);
        rows.push({ cluster, node, agoMs: Math.round(nowMs - lastMs), forMs });
      }
      // Clusters that a reload removed.
      if (rows.length === before) this.#clusters.delete(cluster);
    }
    return rows;
  }

  #add(cluster: string): Names {
    const names: Names = {
      wholeMs: -Infinity,
      rows: new LRUCache({
        max: namesMax,
        // A flood of invented names: nothing may be concluded from a name that is missing.
        dispose: (_row, _name, reason) => {
          if (reason === "evict") names.wholeMs = this.#now();
        },
      }),
    };
    this.#clusters.set(cluster, names);
    return names;
  }
}
