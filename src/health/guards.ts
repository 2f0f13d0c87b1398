/** The safety rules that can be switched off, per cluster too (design.md, rule 11), and the spans they work with. */
export interface Guards {
  /** Rule 2: at most one node holds the lock, whatever the nodes claim. */
  readonly exclusivePrimary: boolean;
  /** Rule 3: a primary route needs a document that does not contradict it. */
  readonly runningPrimary: boolean;
  /** Rules 5 and 6: a replica has to be attached to the leader's stream, on its history. */
  readonly attachedReplica: boolean;
  /** Rule 7: one scope, one system identifier, and the node that was meant. */
  readonly sameSystem: boolean;
  /** How long a replica may show no sign of attachment before it is accused, in milliseconds. */
  readonly attachWindowMs: number;
  /** How long a node that held the lock counts as demoted, in milliseconds. */
  readonly demotedForMs: number;
  /** How many lag samples in a row it takes to refuse a node for its lag, and as many to take it back. */
  readonly lagSamples: number;
  /** How long a node that was refused for its lag stays out after its last sample beyond the limit, in milliseconds. */
  readonly dwellMs: number;
  /** How long a new leader waits for its yes after the old one's was withdrawn, in milliseconds. */
  readonly handoverHoldMs: number;
  /** How long a primary whose API is silent keeps its yes on its exporter's word, in milliseconds; 0 is never. */
  readonly surviveMs: number;
}

/** What holds where the configuration says nothing. */
export const defaultGuards: Guards = {
  exclusivePrimary: true,
  runningPrimary: true,
  attachedReplica: true,
  sameSystem: true,
  attachWindowMs: 10_000,
  demotedForMs: 60_000,
  lagSamples: 1,
  dwellMs: 0,
  handoverHoldMs: 0,
  surviveMs: 0,
};
