import { isFresh } from "./freshness.js";
/**
 * Compares a node's API with its exporter. Returns `null` if they agree, or one has no fresh answer. A pooler has no
 * role.
 */
export function disagreement(view, observation) {
    const { node, report, exporter } = observation;
    if (node.api === null ||
        report === null ||
        exporter === null ||
        exporter.up === null ||
        exporter.page?.isPooler === true)
        return null;
    const isUpFresh = view.nowMs - exporter.up.sentAtMs < view.policy.maxAgeMs;
    if (!isUpFresh || observation.isDown || !isFresh(observation, view.maxAgeMs, view.nowMs))
        return null;
    const byApi = report.state === "running" ? recoveryRole(report.role) : "not running";
    const byExporter = exporter.up.role === "primary" || exporter.up.role === "replica" ? exporter.up.role : "not running";
    return byApi === byExporter ? null : { node: byApi, exporter: exporter.up.role };
}
/** Exporters only know whether a database is in recovery. A standby leader is. */
function recoveryRole(role) {
    return role === "standby_leader" ? "replica" : role;
}
//# sourceMappingURL=exporter-disagreement.js.map