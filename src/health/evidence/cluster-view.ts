import type { Observation } from "../../cluster/observation.ts";
import type { Report } from "../../cluster/documents/report.ts";
import type { ClusterState } from "../../cluster/snapshot.ts";
import { blindFromMs, maxAgeMs } from "./freshness.ts";
import { lockStatusAt, type LockStatus } from "./lock-status.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** One cluster at one instant, as every verdict of one check sees it: so a pool never has two primaries. */
export interface ClusterView {
  readonly cluster: ClusterState;
  readonly policy: HealthPolicy;
  readonly nowMs: number;
  readonly maxAgeMs: number;
  readonly lock: LockStatus;
  readonly isBlind: boolean;
  /** The instant from which the cluster is blind if no probe is answered meanwhile, in ms of our clock. */
  readonly blindFromMs: number;
}

/** A node with a report that may be believed. */
export interface ReportedNode {
  readonly observation: Observation;
  readonly report: Report;
}

/** Looks at a cluster's part at an instant of our clock, in milliseconds. Who holds the lock is settled when an outcome is recorded. */
export function viewAt(cluster: ClusterState, policy: HealthPolicy, nowMs: number): ClusterView {
  return viewWithLeader(cluster, lockStatusAt(cluster, policy, nowMs), { policy, nowMs });
}

/** The same where it was just settled who holds the lock. */
export function viewWithLeader(
  cluster: ClusterState,
  lock: LockStatus,
  { policy, nowMs }: { readonly policy: HealthPolicy; readonly nowMs: number },
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
