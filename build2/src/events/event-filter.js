import { eventSeverities } from "./cluster-event.js";
/** Whether an event is wanted. */
export function isEventWanted(event, filter) {
    const { cluster, node, kinds, severity, sinceMs, untilMs } = filter;
    if (event.at < sinceMs || event.at > untilMs)
        return false;
    if (cluster !== null && event.cluster !== cluster)
        return false;
    if (node !== null && event.node !== node)
        return false;
    if (kinds !== null && !kinds.includes(event.kind))
        return false;
    return severity === null || eventSeverities.indexOf(event.severity) >= eventSeverities.indexOf(severity);
}
//# sourceMappingURL=event-filter.js.map