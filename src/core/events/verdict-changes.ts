import { presentOrLastHolderOf } from "../cluster/leadership.ts";
import type { Observation } from "../cluster/observation.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { HealthPolicy } from "../health/health-policy.ts";
import { type ClusterView, viewAt } from "../health/evidence/leadership/cluster-view.ts";
import { nodeGrounds } from "../health/documents/node-overview.ts";
import { timedSummary, type Summary, type TimedSummary } from "../health/rules/summary.ts";
import type { Reason } from "../health/reason.ts";

/** A change of role, verdict or reachability of one node. */
export interface VerdictChange {
  readonly cluster: string;
  readonly node: string;
  readonly before: Summary | null;
  readonly after: Summary;
  /** How the last probe failed; `null` if it was answered. */
  readonly failure: string | null;
  /** Why the node is not fit for its role; `null` if it is. */
  readonly reason: Reason | null;
  /** The figure or detail behind the reason. */
  readonly detail: string | null;
  /** How far it lags, in bytes of WAL; `null` if unknown. */
  readonly lagBytes: number | null;
}

/** What a change is judged by. */
export interface ChangeContext {
  readonly policy: HealthPolicy;
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
}

/** A node's last summary, how long it holds, and the revision of the cluster that it was made from. */
interface KnownSummary extends TimedSummary {
  readonly revision: number;
}

/** Finds what changed from one state of a cluster to the next. Keeps one summary of each node. */
export class VerdictChanges {
  readonly #known = new Map<string, Map<string, KnownSummary>>();

  /**
   * Examines a new state of a cluster. To be called for every change.
   * @returns one change for each node with a new summary
   */
  find(before: ClusterState, after: ClusterState, { policy, nowMs }: ChangeContext): readonly VerdictChange[] {
    // Verdicts depend on who leads: if that changed every node is examined, otherwise only the one with a new
    // observation.
    const isAll =
      presentOrLastHolderOf(before.leadership) !== presentOrLastHolderOf(after.leadership) ||
      before.lockClaims !== after.lockClaims;
    const known = this.#summariesOf(after);
    const { revision } = after;
    let view: ClusterView | null = null;
    const changes: VerdictChange[] = [];
    // By index: this is looked at with each answer, and an iterator over the nodes of a large cluster costs more.
    for (let at = 0; at < after.nodes.length; at += 1) {
      const observation = after.nodes[at];
      if (observation === undefined || (!isAll && observation === before.nodes[at]) || !isProbed(observation)) continue;
      const { name } = observation.node;
      const earlier = known.get(name);
      if (earlier?.revision === revision && nowMs < earlier.validUntilMs) continue;
      view ??= viewAt(after, policy, nowMs);
      const { summary, validUntilMs } = timedSummary(view, observation);
      const last = earlier?.summary ?? null;
      known.set(name, { summary, validUntilMs, revision });
      if (last !== null && isSame(last, summary)) continue;
      const { reason, detail, lag_bytes: lagBytes } = nodeGrounds(view, observation);
      changes.push({
        cluster: after.name,
        node: name,
        before: last,
        after: summary,
        failure: observation.failure?.detail ?? null,
        reason,
        detail,
        lagBytes,
      });
    }
    return changes;
  }

  /** The last summary of each node of a cluster that was examined. */
  summaries(cluster: string): ReadonlyMap<string, TimedSummary> {
    return this.#known.get(cluster) ?? new Map();
  }

  /** The summaries of one cluster's nodes. Drops those of removed nodes. */
  #summariesOf(cluster: ClusterState): Map<string, KnownSummary> {
    let known = this.#known.get(cluster.name);
    if (known === undefined) this.#known.set(cluster.name, (known = new Map()));
    if (known.size > cluster.nodes.length) {
      for (const name of known.keys()) if (!cluster.index.has(name)) known.delete(name);
    }
    return known;
  }
}

/** Whether the node answered or failed at least once. */
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
