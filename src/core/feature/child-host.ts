import type { FindPushTargets } from "../balancing/balancer-set.ts";
import type { SetTimer } from "../cluster/timer.ts";
import type { StartProbes } from "../command/client/probed-clusters.ts";
import type { Config } from "../config/model/config.ts";

/** What a process of its own is given that a feature has started. It opens no features. */
export interface ChildHost {
  readonly setTimer: SetTimer;
  readonly startProbes: StartProbes;
  /** The balancers and poolers that a configuration names. */
  readonly pushTargets: readonly FindPushTargets[];
  /** Where it may be written that the leader of a cluster is to change. */
  readonly pendingChanges: readonly FindPendingChange[];
}

/** What is written of a change of a cluster's leader. */
export interface PendingChangeSource {
  /** Whether one is pending. Never rejects, and resolves within a deadline. @returns `null` if it cannot be read */
  isChangePending(): Promise<boolean | null>;
  close(): void;
}

/** Opens where a change of a cluster's leader is written; `null`: it is not configured. */
export type FindPendingChange = (config: Config, cluster: string) => Promise<PendingChangeSource | null>;

/** Runs such a process, which ends itself. */
export type RunChild = (host: ChildHost) => void;
