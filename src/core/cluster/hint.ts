/**
 * What a hint announces. `promote`: the node is about to lead, or leads now. `stop`: the node's database stops.
 * `before_stop`: it stops as soon as this is answered, so the clients of poolers are held.
 */
export const hintEvents = ["promote", "stop", "before_stop"] as const;
export type HintEvent = (typeof hintEvents)[number];

/** Announces a change of a cluster before probes can see it. It makes rolecall probe, and decides nothing. */
export interface Hint {
  readonly cluster: string;
  /** The node that it is about; `null`: the whole cluster. */
  readonly node: string | null;
  /** What happens to the node; `null` if no node is named. */
  readonly event: HintEvent | null;
}

/**
 * What a hint did. `begun`: a burst of probes began. `running`: such a burst runs already. `writable`: the node that it
 * names is known to be writable. `not_leader`: a node stops that is not the leader. `spent`: hints have used up their
 * share of the budget of bursts. `unknown`: the cluster or node is not probed.
 */
export type HintEffect = "begun" | "running" | "writable" | "not_leader" | "spent" | "unknown";

/**
 * What a hint that a database is about to stop did. `held`: the clients of all poolers wait. `holding`: not all do yet.
 * `not_held`: none do.
 */
export interface HoldAnswer {
  readonly effect: "held" | "holding" | "not_held";
  /** The run of the switchover; `null` if there is none. */
  readonly run: string | null;
  /** Why no clients wait; `null` if they do. */
  readonly reason: string | null;
}

/** An authorized hint, who sent it, and what it did. */
export interface HintRecord {
  /** The cluster; empty if the request was refused. */
  readonly cluster: string;
  readonly node: string | null;
  readonly event: HintEvent | null;
  readonly effect: HintEffect | HoldAnswer["effect"] | "bad_request";
  /** The token, user or certificate that authenticated the sender, or `null`. */
  readonly who: string | null;
  /** The sender's address. */
  readonly from: string;
  /** The part of the request that could not be read, or `null`. */
  readonly problem: string | null;
}
