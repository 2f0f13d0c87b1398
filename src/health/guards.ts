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
}

/** What holds where the configuration says nothing. */
export const defaultGuards: Guards = {
  exclusivePrimary: true,
  runningPrimary: true,
  attachedReplica: true,
  sameSystem: true,
  attachWindowMs: 10_000,
  demotedForMs: 60_000,
};
