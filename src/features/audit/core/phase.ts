/**
 * How far a difference between a target and the snapshot has come. Instants in ms of rolecall's clock.
 *
 * - `right`: the last look found none
 * - `suspected`: there is one, and the mechanism may still end it
 * - `found`: it lasted longer than the mechanism takes
 */
export type DifferencePhase =
  | { readonly kind: "right"; readonly atMs: number }
  | { readonly kind: "suspected"; readonly sinceMs: number; readonly firstMs: number }
  | { readonly kind: "found"; readonly sinceMs: number; readonly seenMs: number };

/**
 * What one look says of a difference. `quiet`: nothing of it is seen now, and it may go on. `untold`: the look says
 * nothing, because the target or the node cannot be seen.
 */
export type Seen = "wrong" | "right" | "quiet" | "untold";

/** Before the first look. */
export const neverLooked: DifferencePhase = { kind: "right", atMs: -Infinity };

/** When a difference counts. In ms. */
export interface PhaseTimes {
  /** When the look was made, in ms of rolecall's clock. */
  readonly nowMs: number;
  /** Since when it would be wrong, in ms of rolecall's clock. */
  readonly sinceMs: number;
  /** How long the mechanism takes that should end it. */
  readonly delayMs: number;
}

/** How far apart two looks must be that both find a difference, in ms: a session may end during a look. */
export const confirmMs = 400;
/** How long a difference that comes and goes must be absent to be over, in ms. */
export const quietMs = 30_000;

/** Follows one difference from one look to the next. Pure. */
export function nextPhase(
  phase: DifferencePhase,
  seen: Seen,
  { nowMs, sinceMs, delayMs }: PhaseTimes,
): DifferencePhase {
  if (seen === "right") return { kind: "right", atMs: nowMs };
  if (seen === "untold") return phase.kind === "suspected" ? { kind: "right", atMs: nowMs } : phase;
  if (seen === "quiet")
    return phase.kind === "found" && nowMs - phase.seenMs < quietMs ? phase : { kind: "right", atMs: nowMs };
  if (phase.kind === "found") return { ...phase, seenMs: nowMs };
  const suspected =
    phase.kind === "suspected"
      ? { ...phase, sinceMs: Math.max(phase.sinceMs, sinceMs) }
      : // What a look found right since that instant became wrong later.
        { kind: "suspected" as const, sinceMs: phase.atMs >= sinceMs ? nowMs : sinceMs, firstMs: nowMs };
  const isSettled = nowMs - Math.max(sinceMs, suspected.sinceMs) >= delayMs;
  const isConfirmed = delayMs === 0 || nowMs - suspected.firstMs >= confirmMs;
  return isSettled && isConfirmed ? { kind: "found", sinceMs: suspected.sinceMs, seenMs: nowMs } : suspected;
}
