import { lastUncontestedLeaderOf } from "../cluster/leadership.ts";
import type { Observation } from "../cluster/observation.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { viewAt } from "../health/evidence/cluster-view.ts";
import { timedSummary, type Summary, type TimedSummary } from "../health/explain/summary.ts";

/** A change worth a line: of role, verdict or reachability of one node. */
export interface VerdictChange {
  readonly cluster: string;
  readonly node: string;
  readonly before: Summary | null;
  readonly after: Summary;
  /** Why the last probe failed; `null` where it was answered. */
  readonly failure: string | null;
}

interface JudgedBy {
  readonly policy: HealthPolicy;
  readonly nowMs: number;
}

/** A node's summary, how long it holds, and the revision of its cluster that it was made from. */
interface KnownSummary extends TimedSummary {
  readonly revision: number;
}

/** Finds what changed from one state of a cluster to the next. It remembers one summary a node. */
export class VerdictChanges {
  readonly #known = new Map<string, Map<string, KnownSummary>>();

  /** Takes every new state of a cluster. @returns one change for each node whose summary is another now */
  take(before: ClusterState, after: ClusterState, { policy, nowMs }: JudgedBy): readonly VerdictChange[] {
    // A verdict also depends on who leads: when that changes every node is summarized, otherwise only the one that was probed.
    const isAll =
      lastUncontestedLeaderOf(before.leadership) !== lastUncontestedLeaderOf(after.leadership) ||
      before.lockClaims !== after.lockClaims;
    const known = this.#of(after);
    const { revision } = after;
    const open = after.nodes.filter((node, at) => {
      if ((!isAll && node === before.nodes[at]) || !isProbed(node)) return false;
      const last = known.get(node.node.name);
      return last === undefined || last.revision !== revision || nowMs >= last.validUntilMs;
    });
    if (open.length === 0) return [];
    const view = viewAt(after, policy, nowMs);
    const changes: VerdictChange[] = [];
    for (const observation of open) {
      const { name } = observation.node;
      const { summary, validUntilMs } = timedSummary(view, observation);
      const last = known.get(name)?.summary ?? null;
      known.set(name, { summary, validUntilMs, revision });
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
  #of(cluster: ClusterState): Map<string, KnownSummary> {
    let known = this.#known.get(cluster.name);
    if (known === undefined) this.#known.set(cluster.name, (known = new Map()));
    if (known.size > cluster.nodes.length) {
      for (const name of known.keys()) if (!cluster.index.has(name)) known.delete(name);
    }
    return known;
  }
}

function isProbed({ report, failuresInRow }: Observation): boolean {
  return report !== null || failuresInRow > 0;
}

function isSame(one: Summary, other: Summary): boolean {
  return (
    one.role === other.role &&
    one.isReachable === other.isReachable &&
    one.primary === other.primary &&
    one.replica === other.replica
  );
}
