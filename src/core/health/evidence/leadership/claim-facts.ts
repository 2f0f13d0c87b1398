import type { ClaimLoss } from "../../../cluster/leadership.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/** The claims on the lock. */
export interface ClaimFacts {
  /** Nodes with a fresh claim. */
  readonly nodes: readonly string[];
  /** The one that counts as the holder, or `null`. */
  readonly holder: string | null;
  /**
   * Whether several nodes claim the lock at the same time, or the only one is not confirmed by the cluster. A claim
   * that was last seen before another one appeared may be over.
   */
  readonly isConflict: boolean;
}

/** Reads the claims on the lock of a cluster. */
export function claimsOf({ cluster, lock, policy }: ClusterView): ClaimFacts {
  const { claims, holder } = lock;
  const newestMs = Math.max(...claims.map(({ claimedSinceMs }) => claimedSinceMs ?? -Infinity));
  const [sole] = claims;
  const lost = sole === undefined ? undefined : cluster.leadership.lostClaims.get(sole.node.name);
  const isConflict =
    claims.length > 1
      ? claims.every(({ sentAtMs }) => sentAtMs >= newestMs)
      : sole !== undefined && lost !== undefined && sole.sentAtMs > conflictFromMs(lost, policy);
  return { nodes: claims.map(({ node }) => node.name), holder, isConflict };
}

/**
 * From when on a claim that goes on conflicts with its loss. A leader that stops may answer once more after its key has
 * gone.
 */
function conflictFromMs({ viewSentAtMs, withdrawal }: ClaimLoss, { intervalMs }: HealthPolicy): number {
  return withdrawal === undefined ? viewSentAtMs : Math.max(viewSentAtMs, withdrawal.readAtMs + intervalMs);
}
