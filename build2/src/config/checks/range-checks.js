import { valueIssue } from "../model/issue.js";
/** Checks values whose range depends on other values: durations, and the port of the simulator. */
export function checkRanges({ probe, simulator }) {
    const { connectTimeoutMs, timeoutMs, intervalMs, maxAgeMs } = probe.values;
    const issues = [];
    if (connectTimeoutMs > timeoutMs && areValid(probe, ["connect_timeout", "timeout"])) {
        // If connect_timeout is set, it is blamed; otherwise timeout is.
        issues.push(probe.present.has("connect_timeout")
            ? valueIssue(["probe", "connect_timeout"], `${connectTimeoutMs}ms`, `at most probe.timeout (${timeoutMs}ms)`)
            : valueIssue(["probe", "timeout"], `${timeoutMs}ms`, `at least probe.connect_timeout (${connectTimeoutMs}ms)`));
    }
    // Evidence of a node that always answers just in time is up to one interval and one timeout old. It must not be
    // stale.
    const maxAgeFloorMs = intervalMs + timeoutMs;
    if (maxAgeMs < maxAgeFloorMs && areValid(probe, ["interval", "timeout", "max_age"])) {
        issues.push(valueIssue(["probe", "max_age"], `${maxAgeMs}ms`, `at least probe.interval + probe.timeout (${maxAgeFloorMs}ms)`));
    }
    if (simulator !== undefined && simulator.port + simulator.nodes - 1 > 65_535) {
        issues.push(valueIssue(["simulator", "port"], simulator.port, `at most ${65_536 - simulator.nodes}, because each node needs a port`));
    }
    return issues;
}
function areValid({ invalid }, keys) {
    return keys.every((key) => !invalid.has(key));
}
//# sourceMappingURL=range-checks.js.map