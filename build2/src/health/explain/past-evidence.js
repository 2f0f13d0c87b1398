import { isFresh } from "../evidence/freshness.js";
/**
 * Returns whether a node's last report describes the past only: the node is down, or the report is too old to count
 * (rules 1 and 8). What such a report says of role and state must not be shown as the present.
 * @returns `false` for a node without a report
 */
export function isPast({ maxAgeMs, nowMs }, observation) {
    return observation.report !== null && (observation.isDown || !isFresh(observation, maxAgeMs, nowMs));
}
//# sourceMappingURL=past-evidence.js.map