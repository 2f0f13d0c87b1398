import { otherThan, position } from "./incident-yaml.js";
/**
 * The page that an incident file takes for granted: pg_exporter's, of a primary without standbys, at an unknown
 * position. Fields that are shown but never judged are not part of the format.
 */
export function ordinaryPage({ system }) {
    return {
        family: "pg_exporter",
        isPooler: false,
        isUp: true,
        isInRecovery: false,
        databaseTimeS: null,
        serverVersion: null,
        system,
        timeline: null,
        written: null,
        received: null,
        replayed: null,
        lagSeconds: null,
        isReplayPaused: null,
        senders: [],
        streaming: 0,
        receiver: null,
        samples: 1,
    };
}
/** Converts the result of an exporter probe to the `exporters` section of an incident file (docs/incidents.md). */
export function exporterValue(result, cluster) {
    const key = result.endpoint === "up" ? "up" : "page";
    if ("failure" in result)
        return { [key]: { failure: result.failure.kind } };
    return { [key]: result.endpoint === "up" ? result.role : pageValue(result.page, ordinaryPage(cluster)) };
}
function pageValue(page, ordinary) {
    return {
        ...otherThan("family", page.family, ordinary.family),
        ...otherThan("pooler", page.isPooler, ordinary.isPooler),
        ...otherThan("database_up", page.isUp, ordinary.isUp),
        ...otherThan("in_recovery", page.isInRecovery, ordinary.isInRecovery),
        // If omitted, it would advance with the clock of the incident file.
        time: page.databaseTimeS,
        ...otherThan("system", page.system, ordinary.system),
        ...position("written", page.written),
        ...position("received", page.received),
        ...position("replayed", page.replayed),
        ...(page.senders.length === 0 ? {} : { senders: page.senders.map(senderValue) }),
        ...otherThan("streaming", page.streaming, streamingOf(page.senders)),
        ...(page.receiver === null ? {} : { receiver: receiverValue(page.receiver) }),
    };
}
/** Counts the streaming standbys in a page's rows: the value of `streaming` if a file omits it. */
export function streamingOf(senders) {
    return senders.filter(({ isStreaming }) => isStreaming).length;
}
/** A streaming standby without further details is written as its name alone. */
function senderValue({ name, address, isStreaming, replayed }) {
    if (address === null && isStreaming && replayed === null)
        return name;
    return {
        name,
        ...otherThan("address", address, null),
        ...otherThan("streaming", isStreaming, true),
        ...position("replayed", replayed),
    };
}
function receiverValue({ host, port, isStreaming }) {
    return { host, ...otherThan("port", port, null), ...otherThan("streaming", isStreaming, true) };
}
//# sourceMappingURL=incident-exporter.js.map