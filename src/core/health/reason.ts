/** Hard reasons for a no. Each no has exactly one reason. */
export const hardReasons = [
  "down",
  "stale",
  "unknown",
  "blind",
  "distrusted",
  "contested",
  "superseded",
  "demoted",
  "not_writable",
  "foreign",
  "misaddressed",
  "moved",
  "diverged",
  "detached",
  "stray_primary",
] as const;

/** Soft reasons: the node is alive, but not what the check asks for. */
export const softReasons = [
  "wrong_role",
  "lagging",
  "lag_unknown",
  "stalled",
  "not_running",
  "tag",
  "noloadbalance",
  "not_sync",
  "not_quorum",
  "not_async",
  "replication_state",
  "min_lsn",
  "drained",
  "held_back",
  "other_zone",
  "companion",
  "none_fit",
  "no_manager",
] as const;

export type HardReason = (typeof hardReasons)[number];
export type SoftReason = (typeof softReasons)[number];
export type Reason = HardReason | SoftReason;

const soft: ReadonlySet<string> = new Set(softReasons);

/** Whether the reason is soft, so that `miss=` sets the status. */
export function isSoft(reason: Reason): boolean {
  return soft.has(reason);
}

/** Hard reasons that state a lack of evidence. */
const unproven: ReadonlySet<Reason> = new Set<Reason>(["stale", "unknown", "blind"]);

/** Whether a reason only states a lack of evidence. */
export function isUnproven(reason: Reason): boolean {
  return unproven.has(reason);
}

/** Whether a reason is positive evidence against a node, so that its open sessions must not live. */
export function isAgainstSessions(reason: Reason): boolean {
  return !isSoft(reason) && !unproven.has(reason);
}

const all: ReadonlySet<string> = new Set([...hardReasons, ...softReasons]);

/** Whether a text is a reason that this version knows. */
export function isReason(text: string): text is Reason {
  return all.has(text);
}
