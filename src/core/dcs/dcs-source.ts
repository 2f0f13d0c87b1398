import type { AccessMaterial } from "../config/access-material.ts";
import type { ClusterConfig, DcsConfig } from "../config/model/config.ts";
import type { DcsResult } from "../cluster/dcs.ts";
import type { WatchEnd } from "../etcd/etcd-messages.ts";

/** A change that a watch announces. It is a reason to look, never evidence: it may be late, or of an earlier leader. */
export type DcsChange =
  /** `names`: the member in the leader key; `null` if the key was deleted. */
  | { readonly kind: "leader"; readonly names: string | null }
  /** Another key of the scope, such as `sync` or `failsafe`. */
  | { readonly kind: "other"; readonly key: string };

/** A watch that is open. */
export interface DcsWatch {
  /** Resolves when the watch ends by itself; never after `cancel`. */
  readonly ended: Promise<WatchEnd>;
  cancel(): void;
}

/** One scope of a DCS: what the watch of the leader needs of it (docs/reaction-time.md). */
export interface DcsSource {
  /** How many servers are tried in turn. */
  readonly serverCount: number;
  /** Time between two reads without an event, in ms: a watch may lose one. Default: 3 s */
  readonly readIntervalMs?: number;
  /**
   * Reads the leader key, linearizably: no server may answer from a state that is behind. Turns to the next server
   * after a failure. Never rejects, and resolves within a deadline.
   */
  read(): Promise<DcsResult>;
  /**
   * Whether a change of the leader is written down that the cluster has not carried out: Patroni's key `failover`. Reads
   * linearizably. Never rejects, and resolves within a deadline.
   * @returns `null` if it cannot be read
   */
  isChangePending(): Promise<boolean | null>;
  /** Watches the keys of the scope for changes after a revision. */
  watch(afterRevision: number, onChange: (change: DcsChange) => void): DcsWatch;
  /** Closes all connections. */
  close(): void;
}

/**
 * Opens the keys of a cluster in its DCS. It sends nothing yet.
 * @param access the content of the files of `dcs`
 * @returns `null`: they are in a DCS of another kind
 */
export type OpenDcsSource = (
  cluster: Pick<ClusterConfig, "name" | "scope">,
  dcs: DcsConfig,
  access: AccessMaterial,
) => DcsSource | null;
