import { exporterRoles, } from "../../src/cluster/exporter/exporter-report.js";
import { failureKinds } from "../../src/cluster/values/failure.js";
import { ordinaryPage, streamingOf } from "../../src/cluster/incident/incident-exporter.js";
/** Reads the results of one node's exporter: its status, a page of metrics, or both, in this order. */
export function exporterOutcomes(node, section, context) {
    const { cluster, sentAtMs } = context;
    const value = section.mapping(["up", "page"]);
    const outcome = { kind: "exporter", cluster, node, sentAtMs, sentAtWallMs: sentAtMs };
    const outcomes = [];
    const [up, page] = [value("up"), value("page")];
    if (!up.isAbsent)
        outcomes.push({
            ...outcome,
            result: up.isText
                ? { endpoint: "up", role: up.oneOf(exporterRoles) }
                : { endpoint: "up", failure: failureOf(up) },
        });
    if (!page.isAbsent) {
        const isFailed = page.entries().some(([key]) => key === "failure");
        outcomes.push({
            ...outcome,
            result: isFailed
                ? { endpoint: "metrics", failure: failureOf(page) }
                : { endpoint: "metrics", page: pageOf(page, context) },
        });
    }
    return outcomes;
}
function failureOf(section) {
    const kind = section.mapping(["failure"])("failure").oneOf(failureKinds);
    return { kind, detail: kind };
}
const pageKeys = [
    "family",
    "pooler",
    "database_up",
    "in_recovery",
    "time",
    "system",
    "position",
    "written",
    "received",
    "replayed",
    "senders",
    "streaming",
    "receiver",
];
function pageOf(section, { of, sentAtMs, repetition }) {
    const value = section.mapping(pageKeys);
    const ordinary = ordinaryPage(of);
    const isInRecovery = value("in_recovery").truth(ordinary.isInRecovery);
    const position = value("position").position(repetition);
    const senders = value("senders").isAbsent
        ? []
        : value("senders")
            .list()
            .map((sender) => senderOf(sender, repetition));
    return {
        ...ordinary,
        family: value("family").oneOf(["pg_exporter", "postgres_exporter"], ordinary.family),
        isPooler: value("pooler").flag(ordinary.isPooler),
        isUp: value("database_up").truth(ordinary.isUp),
        isInRecovery,
        databaseTimeS: value("time").figure(sentAtMs / 1000),
        system: value("system").statement(ordinary.system),
        written: value("written").position(repetition) ?? (isInRecovery === true ? null : position),
        received: value("received").position(repetition) ?? (isInRecovery === true ? position : null),
        replayed: value("replayed").position(repetition) ?? (isInRecovery === true ? position : null),
        senders,
        streaming: value("streaming").isNull ? null : value("streaming").count(streamingOf(senders)),
        receiver: value("receiver").isAbsent ? null : receiverOf(value("receiver")),
    };
}
function senderOf(section, repetition) {
    if (section.isText)
        return { name: section.text(), address: null, isStreaming: true, replayed: null };
    const value = section.mapping(["name", "address", "streaming", "replayed"]);
    return {
        name: value("name").text(),
        address: value("address").statement(null),
        isStreaming: value("streaming").flag(true),
        replayed: value("replayed").position(repetition),
    };
}
function receiverOf(section) {
    const value = section.mapping(["host", "port", "streaming"]);
    return {
        host: value("host").text(),
        port: value("port").isAbsent ? null : value("port").count(0),
        isStreaming: value("streaming").flag(true),
    };
}
//# sourceMappingURL=exporters.js.map