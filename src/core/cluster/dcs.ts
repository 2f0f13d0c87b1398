import type { Failure } from "./values/failure.ts";

/** What one linearizable read of a cluster's leader key in the DCS returned. */
export interface DcsRead {
  /** The member name in the leader key; `null` if there is no such key. */
  readonly leader: string | null;
  /** Identifies the DCS and the key. Revisions of two sources cannot be compared. */
  readonly source: string;
  /** The revision of the DCS at the read. It never decreases, unless the DCS was restored from a backup. */
  readonly revision: number;
  /** Whether the DCS has any key of the scope. If not, the prefix or the scope is probably wrong. */
  readonly hasScope: boolean;
}

/** The result of a read, or why the DCS cannot be watched. */
export type DcsResult = { readonly read: DcsRead } | { readonly failure: Failure };

/** The DCS named a member, and then another one or nobody: it withdraws the yes of that member (rule 2). */
export interface Withdrawal {
  /** The member that was named. */
  readonly member: string;
  /** The member that the DCS named in place of it; `null` for nobody. */
  readonly namedInstead: string | null;
  /** When the read was sent that confirmed it, in ms of rolecall's clock. */
  readonly readAtMs: number;
}

/** What the DCS shows of one cluster. */
export interface DcsState {
  /** Whether the watch works: the last read was answered in time. */
  readonly isUp: boolean;
  /** Why it does not; `null` while it works, and before the first read. */
  readonly failure: Failure | null;
  /** The last read that differed from the one before. `sentAtMs` is in ms of rolecall's clock. */
  readonly read: (DcsRead & { readonly sentAtMs: number }) | null;
  /** The member that the DCS named last; it stays while the DCS names nobody. */
  readonly lastNamed: string | null;
  /** By member name. A withdrawal stays until the claim ends, the DCS names the member again, or it is distrusted. */
  readonly withdrawals: ReadonlyMap<string, Withdrawal>;
  /** The withdrawal after which a claim went on for a whole ttl, and since when the watch is distrusted. */
  readonly distrust: { readonly withdrawal: Withdrawal; readonly sinceMs: number } | null;
}

/** The state of a watch that has not read anything. */
export const unreadDcs: DcsState = {
  isUp: false,
  failure: null,
  read: null,
  lastNamed: null,
  withdrawals: new Map(),
  distrust: null,
};
