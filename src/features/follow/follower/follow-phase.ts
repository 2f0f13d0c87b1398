/**
 * Where the evidence of a followed cluster comes from.
 *
 * - `awaiting`: nobody feeds it yet. Its nodes are probed here from `probesAtMs` on
 * - `following`: an upstream feeds it. Its nodes are not probed here
 * - `probing`: no upstream does. Its nodes are probed here, until an upstream has caught up
 */
export type FollowPhase =
  | { readonly kind: "awaiting"; readonly probesAtMs: number }
  | { readonly kind: "following" }
  | { readonly kind: "probing"; readonly sinceMs: number };

/** What decides. */
export interface FollowInputs {
  /** Whether an upstream has sent the cluster in full, and is not silent. */
  readonly isFed: boolean;
  readonly nowMs: number;
  /** How long to wait once nobody feeds it, in ms: so that not all followers begin at once. */
  readonly delayMs: number;
}

/** The next phase; the same object if nothing changes. */
export function nextFollowPhase(phase: FollowPhase, { isFed, nowMs, delayMs }: FollowInputs): FollowPhase {
  if (isFed) return phase.kind === "following" ? phase : { kind: "following" };
  switch (phase.kind) {
    case "following":
      return { kind: "awaiting", probesAtMs: nowMs + delayMs };
    case "awaiting":
      return nowMs < phase.probesAtMs ? phase : { kind: "probing", sinceMs: nowMs };
    case "probing":
      return phase;
  }
}
