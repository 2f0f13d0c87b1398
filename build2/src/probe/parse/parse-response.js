import { parseClusterDocument } from "../../cluster/documents/cluster-document.js";
import { parseDynamicConfig } from "../../cluster/documents/dynamic-config.js";
import { parseHistory } from "../../cluster/documents/history.js";
import { parseJson } from "../../cluster/values/json.js";
import { parseReport } from "../../cluster/documents/report.js";
/**
 * Reads the reply to `GET /leader`. A reply equal to the previous one is not parsed again.
 * @param last the node's previous reply, or `null`
 * @returns `last` itself if the reply is equal to it
 */
export function readStatusAfter(reply, last) {
    if ("failure" in reply)
        return reply;
    const text = reply.body.toString("utf8");
    return last !== null && last.status === reply.status && last.text === text
        ? last
        : { status: reply.status, text, result: readStatus(reply, text) };
}
/** Reads the reply to `GET /leader`. Only 200 and 503 with a readable document are answers (rule 8). */
export function readStatus(reply, text) {
    if ("failure" in reply)
        return reply;
    if (reply.status !== 200 && reply.status !== 503) {
        return { failure: { kind: "status", detail: `status ${reply.status} where 200 or 503 was expected` } };
    }
    const document = text ?? reply.body.toString("utf8");
    const report = parseReport(parseJson(document));
    if (report === undefined)
        return { failure: { kind: "body", detail: `no status document: ${excerpt(reply.body)}` } };
    return { report, hasLock: reply.status === 200 };
}
/**
 * Reads the reply to `GET /liveness`, a bare status. `undefined` if it is no evidence about the node's heartbeat
 * loop.
 */
export function readLiveness(reply) {
    if ("failure" in reply)
        return undefined;
    return reply.status === 200 ? true : reply.status === 503 ? false : undefined;
}
/**
 * Reads the reply with one of the cluster's documents. A reply equal to the previous one, from any node, is not parsed
 * again, and the old text is kept.
 * @param last the previous answer for the same document, or `null`
 */
export function readDocumentAfter(reply, last, request) {
    if ("failure" in reply)
        return reply;
    const { source, name, sentAtMs } = request;
    const isEqual = last !== null && last.served.status === reply.status && last.served.body === reply.body.toString("utf8");
    return isEqual
        ? { ...last, served: { ...last.served, source, sentAtMs } }
        : readDocument(name, reply, { source, sentAtMs });
}
/**
 * Reads the reply with one of the cluster's documents. A 502 from `/config` or `/failsafe` is an answer too: the
 * cluster has no such document.
 * @returns a failure if there is no readable document
 */
export function readDocument(name, reply, { source, sentAtMs }) {
    if ("failure" in reply)
        return reply;
    const body = reply.body.toString("utf8");
    const served = { status: reply.status, body, source, sentAtMs };
    if (reply.status === 502 && (name === "config" || name === "failsafe"))
        return { name, served: { ...served, body: "" } };
    const value = reply.status === 200 ? parseJson(body) : undefined;
    if (value === undefined)
        return {
            failure: {
                kind: reply.status === 200 ? "body" : "status",
                detail: `status ${reply.status}: ${excerpt(reply.body)}`,
            },
        };
    switch (name) {
        case "cluster": {
            const cluster = parseClusterDocument(value);
            return cluster === undefined
                ? { failure: { kind: "body", detail: "a cluster document without members" } }
                : { name, served, cluster };
        }
        case "config":
            return { name, served, config: parseDynamicConfig(value) };
        case "history":
            return { name, served, history: parseHistory(value) };
        case "failsafe":
            return { name, served };
    }
}
function excerpt(body) {
    return JSON.stringify(body.subarray(0, 80).toString("utf8"));
}
//# sourceMappingURL=parse-response.js.map