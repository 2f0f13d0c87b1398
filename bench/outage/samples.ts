/** What is recorded while the leader of a cluster changes. All instants are of one monotonic clock, in ms. */

/** What a client of a pool did. */
export type AttemptKind =
  /** A write on a new connection. */
  | "write"
  /** A write on a session that was open before the event. */
  | "session"
  /** A read on a new connection. */
  | "read";

export interface Attempt {
  readonly pool: string;
  readonly kind: AttemptKind;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The node that executed it; `null` if it failed. */
  readonly node: string | null;
  /** Why it failed: an SQLSTATE, `closed` or `late`. */
  readonly failure: string | null;
  /** For a read: how old its data were, by the newest heartbeat that was committed before it started. */
  readonly behindMs: number | null;
}

/** A session that was closed while an event ran. */
export interface Cut {
  readonly pool: string;
  readonly kind: "write" | "read";
  readonly node: string;
  readonly at: number;
}

/** One change of the leader, as all pools saw it. */
export interface LeaderChange {
  readonly number: number;
  readonly kind: "switchover" | "kill";
  readonly startedAt: number;
  readonly endedAt: number;
  readonly from: string;
  readonly to: string;
  /** The first `pg_is_in_recovery() = false` of the new leader. */
  readonly promotedAt: number;
  /** The first yes of each instance of rolecall for the new leader, by its name. */
  readonly yesAt: Readonly<Record<string, number>>;
  readonly attempts: readonly Attempt[];
  readonly cuts: readonly Cut[];
}

/** A pool, as the figures need it. */
export interface MeasuredPool {
  readonly name: string;
  /** The instance of rolecall that its balancer asks; `null`: none. */
  readonly edge: string | null;
}
