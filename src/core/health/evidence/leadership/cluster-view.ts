import type { ClusterState } from "../../../cluster/snapshot.ts";
import { blindFromMs, maxAgeMs } from "../node/freshness.ts";
import { lockStatusAt, type LockStatus } from "./lock-status.ts";
import type { EvaluationContext, HealthPolicy } from "../../health-policy.ts";

/**
 * The evidence of one cluster as judged at one instant. It is not a "view" of rule 2, which is the leader that one node
 * names. All verdicts of one check share it, so a pool never has two primaries.
 */
export interface ClusterView {
  readonly cluster: ClusterState;
  readonly policy: HealthPolicy;
  readonly nowMs: number;
  readonly maxAgeMs: number;
  readonly lock: LockStatus;
  readonly isBlind: boolean;
  /** The instant from which the cluster is blind if no probe is answered meanwhile, in ms of rolecall's clock. */
  readonly blindFromMs: number;
}

/**
 * Returns a cluster's evidence at an instant, in ms of rolecall's clock. The lock holder was decided when the last
 * outcome was recorded.
 */
export function viewAt(cluster: ClusterState, policy: HealthPolicy, nowMs: number): ClusterView {
  return viewWithLeader(cluster, lockStatusAt(cluster, policy, nowMs), { policy, nowMs });
}

/** The same of a cluster that may not be monitored: `null` then. */
export function viewIfKnown(
  cluster: ClusterState | undefined,
  policy: HealthPolicy | undefined,
  nowMs: number,
): ClusterView | null {
  return cluster === undefined || policy === undefined ? null : viewAt(cluster, policy, nowMs);
}

/** The same with a lock status that was just decided. */
export function viewWithLeader(
  cluster: ClusterState,
  lock: LockStatus,
  { policy, nowMs }: EvaluationContext,
): ClusterView {
  const blindMs = blindFromMs(cluster, policy);
  return {
    cluster,
    policy,
    nowMs,
    maxAgeMs: maxAgeMs(cluster, policy),
    lock,
    isBlind: nowMs >= blindMs,
    blindFromMs: blindMs,
  };
}

/** Whether no member list of a cluster was received, so that none of its nodes is known. */
export function isUndiscovered({ nodes, isMembershipKnown }: ClusterState): boolean {
  return nodes.length === 0 && !isMembershipKnown;
}
