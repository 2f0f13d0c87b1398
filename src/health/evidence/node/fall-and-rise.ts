import type { Failure, Observation } from "../../../cluster/observation.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/** Failures this fraction of an interval apart count separately: a probe may run a tenth early or late. */
const minGap = 0.8;

/** Failures of one node since its last answer. */
export interface FailureCount {
  readonly failuresInRow: number;
  /** When the probe of the last counted failure was sent, in ms of rolecall's clock. */
  readonly failedAtMs: number;
}

/**
 * Counts a failed probe. At most one failure per interval counts, however often the node is probed, so that rounds and
 * bursts do not make a node `down` sooner than its schedule does (rule 8).
 * @param sentAtMs when the probe was sent, in ms of rolecall's clock
 */
export function countFailure(
  { failuresInRow, failedAtMs }: FailureCount,
  sentAtMs: number,
  intervalMs: number,
): FailureCount {
  const counts = failuresInRow === 0 || sentAtMs - failedAtMs >= minGap * intervalMs;
  return counts ? { failuresInRow: failuresInRow + 1, failedAtMs: sentAtMs } : { failuresInRow, failedAtMs };
}

/** Records a failed probe in a node's observation. Its last report stays and ages. */
export function withFailure(
  before: Observation,
  { failure, sentAtMs }: { readonly failure: Failure; readonly sentAtMs: number },
  { fall, intervalMs }: HealthPolicy,
): Observation {
  const count = countFailure(before, sentAtMs, intervalMs);
  return { ...before, ...count, answersInRow: 0, failure, isDown: before.isDown || count.failuresInRow >= fall };
}
