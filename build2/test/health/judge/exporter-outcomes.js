import { primaryPage, replicaPage } from "../../fake/exporter-page.js";
/** The answers of a primary's and a replica's exporter, whose databases' clocks advance. */
export function healthyExporters(primary, replica, atMs) {
    return [
        exporterRole(primary, "primary", atMs),
        exporterPage(primary, streamingPrimary, atMs - 1_000),
        exporterPage(primary, streamingPrimary, atMs),
        exporterRole(replica, "replica", atMs),
        exporterPage(replica, streamingReplica, atMs - 1_000),
        exporterPage(replica, streamingReplica, atMs),
    ];
}
export const streamingPrimary = { isPrimary: true, streaming: 2 };
const streamingReplica = { isPrimary: false, receivesFrom: "10.0.0.6" };
/** The answer of `/up` of a node's exporter. */
export function exporterRole(node, role, sentAtMs) {
    const sent = { kind: "exporter", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs };
    return { ...sent, result: { endpoint: "up", role: role } };
}
/** A page of metrics of a node's exporter. */
export function exporterPage(node, content, sentAtMs) {
    const { isPrimary, isPooler = false, isFrozen = false, streaming = 0, receivesFrom = null } = content;
    const page = {
        ...(isPrimary ? primaryPage : replicaPage),
        family: content.family ?? "pg_exporter",
        isPooler,
        streaming,
        databaseTimeS: isFrozen ? 0 : sentAtMs / 1000,
        system: "7300000000000000001",
        receiver: isPrimary || receivesFrom === null ? null : { host: receivesFrom, port: 5432, isStreaming: true },
    };
    const sent = { kind: "exporter", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs };
    return { ...sent, result: { endpoint: "metrics", page } };
}
//# sourceMappingURL=exporter-outcomes.js.map