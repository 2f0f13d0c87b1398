import type { Failure, Observation } from "../../cluster/observation.ts";
import type { HealthPolicy } from "../health-policy.ts";

/** Failures this part of an interval apart count as an interval apart: a probe may stray a tenth from its interval. */
const leastGap = 0.8;

/** Failures of one node since its last answer. */
export interface FailureRow {
  readonly failuresInRow: number;
  /** When the last one that counted was sent, in ms of our clock. */
  readonly failedAtMs: number;
}

/**
 * Counts a failed probe: at most one an interval, however often the node is probed, so that rounds and bursts make no node `down`
 * sooner than its own pace does (design.md, rule 8).
 * @param sentAtMs when the probe was sent, in ms of our clock
 */
export function countFailure(
  { failuresInRow, failedAtMs }: FailureRow,
  sentAtMs: number,
  intervalMs: number,
): FailureRow {
  const counts = failuresInRow === 0 || sentAtMs - failedAtMs >= leastGap * intervalMs;
  return counts ? { failuresInRow: failuresInRow + 1, failedAtMs: sentAtMs } : { failuresInRow, failedAtMs };
}

/** Takes a failed probe into what is known of a node: its evidence stays and ages. */
export function unanswered(
  before: Observation,
  { failure, sentAtMs }: { readonly failure: Failure; readonly sentAtMs: number },
  { fall, intervalMs }: HealthPolicy,
): Observation {
  const row = countFailure(before, sentAtMs, intervalMs);
  return { ...before, ...row, answersInRow: 0, failure, isDown: before.isDown || row.failuresInRow >= fall };
}
