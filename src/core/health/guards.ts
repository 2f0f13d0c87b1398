/** The safety rules that can be switched off, per cluster too (rule 11), and their durations. */
export interface Guards {
  /** Rule 2: at most one node counts as the lock holder, whatever the nodes claim. */
  readonly exclusivePrimary: boolean;
  /** Rule 3: a primary's own document must not contradict a yes. */
  readonly runningPrimary: boolean;
  /** Rules 5 and 6: a replica must be attached to the leader's stream, and on the leader's timeline history. */
  readonly attachedReplica: boolean;
  /** Rule 7: one scope, one system identifier, and the right node at each address. */
  readonly sameSystem: boolean;
  /** Rule 4: while no leader states a position, a replica that has replayed all it received keeps its lag in time. */
  readonly failoverHold: boolean;
  /** How long a replica may show no sign of attachment before it is marked detached or stalled, in milliseconds. */
  readonly attachWindowMs: number;
  /** How long a node that lost the lock counts as demoted, in milliseconds. */
  readonly demotedForMs: number;
  /** How many lag samples in a row are needed to refuse a node for its lag, and to accept it again. */
  readonly lagSamples: number;
  /** How long a node refused for its lag stays out after its lag last exceeded the limit, in milliseconds. */
  readonly dwellMs: number;
  /** How long a new leader waits for its yes after the old leader lost its own, in milliseconds. */
  readonly handoverHoldMs: number;
  /**
   * How long a primary whose API is silent keeps its yes by its exporter's evidence, in milliseconds; 0 disables it.
   */
  readonly surviveMs: number;
}

/** The defaults of the configuration. */
export const defaultGuards: Guards = {
  exclusivePrimary: true,
  runningPrimary: true,
  attachedReplica: true,
  sameSystem: true,
  failoverHold: true,
  attachWindowMs: 10_000,
  demotedForMs: 60_000,
  lagSamples: 1,
  dwellMs: 0,
  handoverHoldMs: 0,
  surviveMs: 0,
};
