import type { ClusterState } from "../cluster/snapshot.ts";
import { isDisputed, lockStatusAt } from "../health/evidence/lock-status.ts";
import type { HealthPolicy } from "../health/health-policy.ts";

/** Two claims on one lock, or a claim that the cluster does not confirm: worth one line, however long it lasts. */
export interface LeaderDispute {
  readonly cluster: string;
  readonly claims: readonly string[];
  /** Who counts as the holder meanwhile, or `null`. */
  readonly holder: string | null;
}

/** An episode is over when nothing was disputed for this long, in ms; what flickers within is one episode. */
const quietMs = 10_000;

/** Finds the beginning of each episode in which it is open who leads. */
export class LeaderDisputes {
  readonly #lastMs = new Map<string, number>();

  /** To be told of every new part. @returns the dispute when a new episode begins, else `null` */
  take(
    cluster: ClusterState,
    { policy, nowMs }: { readonly policy: HealthPolicy; readonly nowMs: number },
  ): LeaderDispute | null {
    const stands = cluster.lockClaims.length === 1 && cluster.leadership.decision.kind === "held";
    if (cluster.lockClaims.length === 0 || stands || !isDisputed(cluster, policy, nowMs)) return null;
    const isNew = nowMs - (this.#lastMs.get(cluster.name) ?? -Infinity) > quietMs;
    this.#lastMs.set(cluster.name, nowMs);
    if (!isNew) return null;
    const { holder, claims } = lockStatusAt(cluster, policy, nowMs);
    return { cluster: cluster.name, claims: claims.map(({ node }) => node.name), holder };
  }
}
