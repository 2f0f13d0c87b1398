/** Returns the event of a drain that begins or ends. */
export function drainEvent({ kind, cluster, node, drain, endedBy }) {
    const { reason, by, isAll, until } = drain;
    const end = kind === "expired" ? "its time is over" : `ended${endedBy === null ? "" : ` by ${endedBy}`}`;
    return {
        kind: kind === "begun" ? "drained" : "undrained",
        severity: kind === "begun" ? "warning" : "info",
        cluster,
        node,
        message: kind === "begun"
            ? `${node} of ${cluster} is drained${isAll ? " from all routes" : ""} until ${until}: ${reason}`
            : `${node} of ${cluster} is no longer drained: ${end}`,
        cause: reason,
        figures: { until, routes: isAll ? "all" : "replica", ...(by === null ? {} : { by }) },
    };
}
/** The audit fields of a drain's log line: what, by whom, until when. */
export function drainAudit({ kind, drain, endedBy }) {
    const { reason, by, isAll, until } = drain;
    return { audit: true, reason, by, all: isAll, until, ...(kind === "ended" ? { ended_by: endedBy } : {}) };
}
//# sourceMappingURL=drain-events.js.map