/** Failures this fraction of an interval apart count separately: a probe may run a tenth early or late. */
const minGap = 0.8;
/**
 * Counts a failed probe. At most one failure per interval counts, however often the node is probed, so that rounds and
 * bursts do not make a node `down` sooner than its schedule does (rule 8).
 * @param sentAtMs when the probe was sent, in ms of rolecall's clock
 */
export function countFailure({ failuresInRow, failedAtMs }, sentAtMs, intervalMs) {
    const counts = failuresInRow === 0 || sentAtMs - failedAtMs >= minGap * intervalMs;
    return counts ? { failuresInRow: failuresInRow + 1, failedAtMs: sentAtMs } : { failuresInRow, failedAtMs };
}
/** Records a failed probe in a node's observation. Its last report stays and ages. */
export function withFailure(before, { failure, sentAtMs }, { fall, intervalMs }) {
    const count = countFailure(before, sentAtMs, intervalMs);
    return { ...before, ...count, answersInRow: 0, failure, isDown: before.isDown || count.failuresInRow >= fall };
}
//# sourceMappingURL=failures.js.map