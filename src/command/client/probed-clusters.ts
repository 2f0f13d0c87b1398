import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import type { Overview } from "../../health/documents/overview.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";

/** The result of one round of probes, or of several. */
export interface ProbedClusters {
  readonly snapshot: Snapshot;
  /** @returns the cluster of that name, or `undefined` */
  readonly cluster: (name: string) => ClusterState | undefined;
  /** @returns the health policy of a cluster, or `undefined` if there is no such cluster */
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** The clock of the evidence, in ms. Evidence ages while it runs. */
  readonly now: () => number;
  readonly overview: () => Overview;
  /** The WAL position in a node's first report that had one; `null` if none had. */
  readonly firstWalPosition: (cluster: string, node: string) => number | null;
  /** The time that the watch has lasted, in ms; 0 without a watch. */
  readonly watchedMs: () => number;
}
