import type { ClusterPart } from "../cluster/snapshot.ts";
import type { Settings } from "../health/settings.ts";
import { look } from "../health/sight.ts";
import { summarize, type Summary } from "../health/summary.ts";

/** A change worth a line: of role, verdict or reachability of one node. */
export interface Change {
  readonly cluster: string;
  readonly node: string;
  readonly before: Summary | null;
  readonly after: Summary;
  /** What the last probe met, where it met no answer. */
  readonly failure: string | null;
}

/** Finds what changed from one part to the next. It remembers one summary a node. */
export class Changes {
  readonly #known = new Map<string, Map<string, Summary>>();

  /** To be told of every new part of a cluster. @returns one change per node whose summary is another now */
  take(before: ClusterPart, after: ClusterPart, settled: { readonly settings: Settings; readonly nowMs: number }): readonly Change[] {
    const sight = look(after, settled.settings, settled.nowMs);
    // A verdict also hangs on who leads: then every node is looked at, otherwise only the one that was heard.
    const isAll = before.stood !== after.stood || before.claims !== after.claims;
    const known = this.#of(after);
    const changes: Change[] = [];
    for (let at = 0; at < after.nodes.length; at += 1) {
      const observation = after.nodes[at];
      if (observation === undefined) continue;
      const isHeard = observation.report !== null || observation.failuresInRow > 0;
      if (!isHeard || (!isAll && observation === before.nodes[at])) continue;
      const { name } = observation.node;
      const summary = summarize(sight, observation);
      const last = known.get(name) ?? null;
      if (last !== null && isSame(last, summary)) continue;
      known.set(name, summary);
      changes.push({ cluster: after.name, node: name, before: last, after: summary, failure: observation.failure?.detail ?? null });
    }
    return changes;
  }

  /** The summaries of one cluster's nodes; those of nodes that are gone are dropped. */
  #of(part: ClusterPart): Map<string, Summary> {
    let known = this.#known.get(part.name);
    if (known === undefined) this.#known.set(part.name, (known = new Map()));
    if (known.size > part.nodes.length) {
      for (const name of known.keys()) if (!part.index.has(name)) known.delete(name);
    }
    return known;
  }
}

function isSame(one: Summary, other: Summary): boolean {
  return one.role === other.role && one.isReachable === other.isReachable && one.primary === other.primary && one.replica === other.replica;
}
