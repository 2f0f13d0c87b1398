/**
 * The kinds of events that begin conditions, and of those that end them. They are apart from the conditions, because
 * programs that judge nothing know them too, and start fast.
 */

/** Of the conditions that the core finds in the evidence, in the order of references. */
export const foundEnds = {
  claims_conflict: "claims_resolved",
  stray_primary: "stray_ended",
  system_conflict: "system_resolved",
  // A replica is one of these at a time: one end is that of all.
  detached: "attached",
  diverged: "attached",
  stalled: "attached",
  node_down: "node_up",
  companion_down: "companion_up",
  pool_empty: "pool_filled",
  degraded: "restored",
  blind: "blind_ended",
  paused: "resumed",
  failsafe: "failsafe_ended",
  wedged: "wedged_ended",
  writes_wait: "writes_go_on",
  dcs_unreachable: "dcs_reachable",
  dcs_lost: "dcs_restored",
  dcs_distrusted: "dcs_trusted",
  address_disputed: "address_settled",
  address_unlisted: "address_listed",
} as const;

/** Of a primary that is lost, which is reported by a machine of its own. */
export const lossEnds = { primary_lost: "primary_found" } as const;

/** Of the orders of operators. */
export const orderEnds = { drained: "undrained", distrusted: "trusted" } as const;

type KindsOf<Ends> = keyof Ends | Ends[keyof Ends];

/** The kinds of events that begin or end a condition of the core. */
export type ConditionKind = KindsOf<typeof foundEnds> | KindsOf<typeof lossEnds> | KindsOf<typeof orderEnds>;
