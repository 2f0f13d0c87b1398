import { fit, unfit, validUntil } from "../verdict.js";
/**
 * Judges the heartbeat loop: 503 only on the node's own fresh 503 or refused connections (rule 8), since this answer
 * kills processes. A node that never answered is `unknown`.
 */
export function judgeLiveness(view, observation) {
    const { failure, report, liveness } = observation;
    const refusingMs = refusingUntilMs(observation, view.policy);
    if (failure !== null && view.nowMs < refusingMs)
        return validUntil(unfit("down", failure.kind), refusingMs);
    if (report === null && liveness === null)
        return unfit("unknown");
    if (liveness === null || liveness.isAlive)
        return fit;
    const countsUntilMs = liveness.sentAtMs + view.policy.livenessMaxAgeMs;
    return view.nowMs < countsUntilMs ? validUntil(unfit("down", "heartbeat"), countsUntilMs) : fit;
}
/**
 * Up to when the node's API counts as refusing connections. An exporter that refuses says nothing about the database,
 * and refusals from before we could no longer send probes are old.
 * @returns ms of rolecall's clock; -Infinity where it does not refuse
 */
export function refusingUntilMs({ node, isDown, failure, failedAtMs }, policy) {
    const isRefusing = isDown && failure?.kind === "refused" && node.api !== null;
    return isRefusing ? failedAtMs + policy.livenessMaxAgeMs : -Infinity;
}
//# sourceMappingURL=liveness.js.map