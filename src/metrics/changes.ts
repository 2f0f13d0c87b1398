import type { Observation } from "../cluster/observation.ts";
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

interface Settled {
  readonly settings: Settings;
  readonly nowMs: number;
}

/** A node's summary, and the facts of its cluster that it was last made from. */
interface Judged {
  readonly summary: Summary;
  readonly facts: number;
}

/** Finds what changed from one part to the next. It remembers one summary a node. */
export class Changes {
  readonly #known = new Map<string, Map<string, Judged>>();

  /** To be told of every new part of a cluster. @returns one change per node whose summary is another now */
  take(before: ClusterPart, after: ClusterPart, settled: Settled): readonly Change[] {
    // A verdict also hangs on who leads: then every node is looked at, otherwise only the one that was heard.
    const isAll = before.stood !== after.stood || before.claims !== after.claims;
    const known = this.#of(after);
    const { facts } = after;
    const asked = after.nodes.filter((node, at) => (isAll || node !== before.nodes[at]) && isHeard(node));
    const open = asked.filter((node) => known.get(node.node.name)?.facts !== facts || hangsOnClock(after, node, settled.settings));
    if (open.length === 0) return [];
    const sight = look(after, settled.settings, settled.nowMs);
    const changes: Change[] = [];
    for (const observation of open) {
      const { name } = observation.node;
      const summary = summarize(sight, observation);
      const last = known.get(name)?.summary ?? null;
      known.set(name, { summary, facts });
      if (last !== null && isSame(last, summary)) continue;
      changes.push({ cluster: after.name, node: name, before: last, after: summary, failure: observation.failure?.detail ?? null });
    }
    return changes;
  }

  /** The summaries of one cluster's nodes; those of nodes that are gone are dropped. */
  #of(part: ClusterPart): Map<string, Judged> {
    let known = this.#known.get(part.name);
    if (known === undefined) this.#known.set(part.name, (known = new Map()));
    if (known.size > part.nodes.length) {
      for (const name of known.keys()) if (!part.index.has(name)) known.delete(name);
    }
    return known;
  }
}

function isHeard({ report, failuresInRow }: Observation): boolean {
  return report !== null || failuresInRow > 0;
}

/** Whether something else than that its word grows old may change what a node is by time alone. */
function hangsOnClock({ drains, withdrawn }: ClusterPart, { hasLock, lastHeldAtMs }: Observation, { guards }: Settings): boolean {
  return drains.size > 0 || (withdrawn !== null && guards.handoverHoldMs > 0) || (lastHeldAtMs !== null && !hasLock);
}

function isSame(one: Summary, other: Summary): boolean {
  return one.role === other.role && one.isReachable === other.isReachable && one.primary === other.primary && one.replica === other.replica;
}
