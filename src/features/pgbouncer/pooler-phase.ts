/** Whether a pooler answers, from one check to the next. Pure. */

/** What is known of a pooler. Instants are in ms of rolecall's clock. */
export type PoolerPhase =
  /** No check has ended. */
  | { readonly kind: "unknown" }
  | { readonly kind: "up" }
  /** It has failed, and may be restarting. `sinceMs`: when the first check that failed was sent */
  | { readonly kind: "failing"; readonly sinceMs: number; readonly problem: string }
  | { readonly kind: "down"; readonly sinceMs: number; readonly problem: string };

/** A check that has ended. */
export interface PoolerCheck {
  readonly sentAtMs: number;
  readonly endedAtMs: number;
  /** `null`: it answered. */
  readonly problem: string | null;
}

/** For how long a pooler must have failed before it is down, in ms: PgBouncer restarts within a second. */
export const downAfterMs = 3_000;

/** The phase after a check. Two checks at least must have failed before it is down. */
export function nextPoolerPhase(before: PoolerPhase, { sentAtMs, endedAtMs, problem }: PoolerCheck): PoolerPhase {
  if (problem === null) return { kind: "up" };
  if (before.kind === "unknown" || before.kind === "up") return { kind: "failing", sinceMs: sentAtMs, problem };
  const { sinceMs } = before;
  return { kind: before.kind === "down" || endedAtMs - sinceMs >= downAfterMs ? "down" : "failing", sinceMs, problem };
}
