import type { ClusterState } from "../cluster/snapshot.ts";
import { isDisputed, lockStatusAt } from "../health/evidence/leadership/lock-status.ts";
import type { HealthPolicy } from "../health/health-policy.ts";

/** Several claims on one lock, or a claim that the cluster does not confirm. */
export interface LeaderDispute {
  readonly cluster: string;
  readonly claims: readonly string[];
  /** The node that counts as the holder meanwhile, or `null`. */
  readonly holder: string | null;
}

/** An episode ends when nothing was disputed for this long, in ms. A dispute that flickers within it is one episode. */
const quietMs = 10_000;

/**
 * Finds the beginning of each episode in which it is undecided who leads. One log line per episode is enough, however
 * long it lasts.
 */
export class LeaderDisputes {
  readonly #lastMs = new Map<string, number>();

  /** Examines a new state of a cluster. @returns the dispute if a new episode begins, else `null` */
  find(
    cluster: ClusterState,
    { policy, nowMs }: { readonly policy: HealthPolicy; readonly nowMs: number },
  ): LeaderDispute | null {
    const isUndisputed = cluster.lockClaims.length === 1 && cluster.leadership.decision.kind === "held";
    if (cluster.lockClaims.length === 0 || isUndisputed || !isDisputed(cluster, policy, nowMs)) return null;
    const isNew = nowMs - (this.#lastMs.get(cluster.name) ?? -Infinity) > quietMs;
    this.#lastMs.set(cluster.name, nowMs);
    if (!isNew) return null;
    const { holder, claims } = lockStatusAt(cluster, policy, nowMs);
    return { cluster: cluster.name, claims: claims.map(({ node }) => node.name), holder };
  }
}
