import { lastUncontestedLeaderOf } from "../cluster/leadership.ts";
import type { Observation } from "../cluster/observation.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { viewAt } from "../health/evidence/cluster-view.ts";
import { summarize, type Summary } from "../health/explain/summary.ts";

/** A change worth a line: of role, verdict or reachability of one node. */
export interface VerdictChange {
  readonly cluster: string;
  readonly node: string;
  readonly before: Summary | null;
  readonly after: Summary;
  /** What the last probe met, where it met no answer. */
  readonly failure: string | null;
}

interface Settled {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/** A node's summary, and the facts of its cluster that it was last made from. */
interface Judged {
  readonly summary: Summary;
  readonly facts: number;
}

/** Finds what changed from one part to the next. It remembers one summary a node. */
export class VerdictChanges {
  readonly #known = new Map<string, Map<string, Judged>>();

  /** To be told of every new part of a cluster. @returns one change per node whose summary is another now */
  take(before: ClusterState, after: ClusterState, settled: Settled): readonly VerdictChange[] {
    // A verdict also hangs on who leads: then every node is looked at, otherwise only the one that was heard.
    const isAll =
      lastUncontestedLeaderOf(before.leadership) !== lastUncontestedLeaderOf(after.leadership) ||
      before.lockClaims !== after.lockClaims;
    const known = this.#of(after);
    const { revision } = after;
    const asked = after.nodes.filter((node, at) => (isAll || node !== before.nodes[at]) && isHeard(node));
    const open = asked.filter(
      (node) => known.get(node.node.name)?.facts !== revision || hangsOnClock(after, node, settled.policy),
    );
    if (open.length === 0) return [];
    const view = viewAt(after, settled.policy, settled.nowMs);
    const changes: VerdictChange[] = [];
    for (const observation of open) {
      const { name } = observation.node;
      const summary = summarize(view, observation);
      const last = known.get(name)?.summary ?? null;
      known.set(name, { summary, facts: revision });
      if (last !== null && isSame(last, summary)) continue;
      changes.push({
        cluster: after.name,
        node: name,
        before: last,
        after: summary,
        failure: observation.failure?.detail ?? null,
      });
    }
    return changes;
  }

  /** The summaries of one cluster's nodes; those of nodes that are gone are dropped. */
  #of(cluster: ClusterState): Map<string, Judged> {
    let known = this.#known.get(cluster.name);
    if (known === undefined) this.#known.set(cluster.name, (known = new Map()));
    if (known.size > cluster.nodes.length) {
      for (const name of known.keys()) if (!cluster.index.has(name)) known.delete(name);
    }
    return known;
  }
}

function isHeard({ report, failuresInRow }: Observation): boolean {
  return report !== null || failuresInRow > 0;
}

/** Whether something else than that its word grows old may change what a node is by time alone. */
function hangsOnClock(
  { drains, leadership: { lastLoss } }: ClusterState,
  { hasLock, lastHeldAtMs }: Observation,
  { guards }: HealthPolicy,
): boolean {
  return drains.size > 0 || (lastLoss !== null && guards.handoverHoldMs > 0) || (lastHeldAtMs !== null && !hasLock);
}

function isSame(one: Summary, other: Summary): boolean {
  return (
    one.role === other.role &&
    one.isReachable === other.isReachable &&
    one.primary === other.primary &&
    one.replica === other.replica
  );
}
