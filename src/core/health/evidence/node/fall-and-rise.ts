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

/** What is known of the answers and failures of a node, or of its companion. */
interface Reach extends FailureCount {
  readonly answersInRow: number;
  readonly failure: Failure | null;
  readonly isDown: boolean;
}

/** Counts a failure: `fall` in a row make a node `down`. */
export function reachAfterFailure(
  before: Reach,
  { failure, sentAtMs }: { readonly failure: Failure; readonly sentAtMs: number },
  { fall, intervalMs }: Pick<HealthPolicy, "fall" | "intervalMs">,
): Reach {
  const count = countFailure(before, sentAtMs, intervalMs);
  return { ...count, answersInRow: 0, failure, isDown: before.isDown || count.failuresInRow >= fall };
}

/** Counts an answer: failures end, and `rise` answers in a row bring a node back from `down`. */
export function reachAfterAnswer(
  before: Pick<Reach, "answersInRow" | "isDown">,
  { rise }: Pick<HealthPolicy, "rise">,
): Omit<Reach, "failedAtMs"> {
  const answersInRow = before.answersInRow + 1;
  return { failuresInRow: 0, answersInRow, failure: null, isDown: before.isDown && answersInRow < rise };
}

/** Records a failed probe in a node's observation. Its last report stays and ages. */
export function withFailure(
  before: Observation,
  failed: { readonly failure: Failure; readonly sentAtMs: number },
  policy: HealthPolicy,
): Observation {
  return { ...before, ...reachAfterFailure(before, failed, policy) };
}
