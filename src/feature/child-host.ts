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
  /** Looks into the DCS of a cluster; `null`: none is configured. */
  readonly openDcs: (
    config: Config,
    cluster: string,
  ) => Promise<{ isChangePending(): Promise<boolean | null>; close(): void } | null>;
}

/** Runs such a process, which ends itself. */
export type RunChild = (host: ChildHost) => void;
