import type { Config } from "../../config/model/config.ts";
import type { ClusterState, Snapshot } from "../../cluster/snapshot.ts";
import type { Overview } from "../../health/documents/overview.ts";
import type { HealthPolicy } from "../../health/health-policy.ts";
import type { SavedState } from "../../state/saved-state.ts";

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

/** Probers of this process that go on until they are stopped. */
export interface LocalProbes {
  readonly probed: ProbedClusters;
  /** Resolves after the first round, which takes at most one probe timeout. */
  readonly firstRound: Promise<void>;
  /** Probes the nodes of a cluster in a burst, because something is about to change. */
  hint(cluster: string): void;
  /** Called after each change of a cluster. */
  onChange(listener: (cluster: string) => void): void;
  /** Counts the time from now on as watched. */
  startWatch(): void;
  /** Stops probing. What was probed stays. */
  stop(): void;
}

/**
 * Probes every node of every cluster as a serving process does, until it is stopped.
 * @param onTlsProblem receives each problem with the TLS files of a cluster
 * @param saved what an earlier process knew
 */
export type StartProbes = (
  config: Config,
  onTlsProblem: (cluster: string, problem: string) => void,
  saved?: SavedState,
) => LocalProbes;
