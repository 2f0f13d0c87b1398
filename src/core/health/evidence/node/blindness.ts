import { isFresh, maxAgeMs } from "./freshness.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import type { Snapshot } from "../../../cluster/snapshot.ts";

/** The part of the store that readiness depends on. */
interface SnapshotSource {
  readonly current: Snapshot;
  policyOf(cluster: string): HealthPolicy | undefined;
}

/** Whether no node of any cluster has fresh evidence: then the fault is likely rolecall's (rule 9). */
export function isBlindEverywhere(store: SnapshotSource, nowMs: number): boolean {
  return store.current.clusters.every((cluster) => {
    const policy = store.policyOf(cluster.name);
    return policy === undefined || !cluster.nodes.some((node) => isFresh(node, maxAgeMs(cluster, policy), nowMs));
  });
}
