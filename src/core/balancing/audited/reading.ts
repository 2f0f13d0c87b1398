import type { DatabaseAddress } from "../../cluster/node.ts";

/**
 * Whether a target sends new sessions to a server: `takes`; `down`, its own checks say no; `spare`, only if no other
 * server is left; `held`, an operator or its configuration keeps them away, or it is warming up or full.
 */
export type ServerUse = "takes" | "down" | "spare" | "held";

/** What a target has of one server at one instant. */
export interface ServerReading {
  /** Its name in the target. */
  readonly server: string;
  /** Where its sessions go; `null`: the target does not say. */
  readonly address: DatabaseAddress | null;
  readonly use: ServerUse;
  readonly sessions: number;
  /**
   * Sessions since some instant of the past, without attempts to connect that failed; it falls when the target starts
   * anew. `null`: not counted.
   */
  readonly total: number | null;
  /** What its sessions that have ended got from it, in bytes. `null`: not counted. */
  readonly endedBytes: number | null;
  /** Attempts to connect to it that failed, since the same instant. `null`: not counted. */
  readonly failed: number | null;
  /** Why nothing can begin there at all, in the words of the target; `null`: something can, if only later. */
  readonly closed: string | null;
  /** Whether the target checks it: otherwise only a command or its configuration moves its traffic. */
  readonly isChecked: boolean;
  /** At most how long ago the last session began, in ms; `null`: not known. */
  readonly newestAgoMs: number | null;
  /** At least how long its checks have said the same, in ms; `null`: not known. At a start all may be up at first. */
  readonly unchangedMs: number | null;
  /** Its share of new sessions, among the servers that take some. */
  readonly weight: number;
  /** How long the target itself takes to follow a change, in ms. */
  readonly delayMs: number;
}

/** What a target has of one pool. */
export interface PoolReading {
  readonly backend: string;
  /** `null`: the target has no such pool. */
  readonly servers: readonly ServerReading[] | null;
  /** Whether it divides new sessions among its servers by their weights, so that each gets some. */
  readonly isShared: boolean;
  /** What the pool of the target leads to for new sessions, where that is one address; `null`: see the servers. */
  readonly leadsTo: DatabaseAddress | null;
  /** Why the target lets no client of the pool through, as `paused`; `null`: it does. */
  readonly closed: string | null;
  /** What was sent to the target and not taken by it; `null`: nothing. */
  readonly notTaken: string | null;
}

/** What came of looking at a target. */
export type TargetReading =
  | { readonly kind: "read"; readonly pools: readonly PoolReading[] }
  | { readonly kind: "failed"; readonly problem: string };
