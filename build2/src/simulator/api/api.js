import { bare, errorPage, json, text } from "./answer.js";
import { healthCheck, liveness, readiness } from "./checks.js";
import { modelHoldsLock } from "../model/cluster.js";
import { clusterDocument, failsafeDocument, statusDocument } from "./documents.js";
import { handleManagement } from "./management.js";
import { metricsText } from "./metrics.js";
import { wordsOf } from "./vocabulary.js";
/**
 * Answers one request at the model's present time. Dispatches on the method and the first path segment, as real nodes
 * do. A GET, HEAD or OPTIONS of anything else is a health check, another method is 501 (Patroni 4.1.4 api.py,
 * parse_request).
 */
export function serveApi(context, request) {
    const { node } = context;
    // The fault `claim`: all that its API says is that of a primary, while the model goes on without knowing.
    const claims = node.claimsLock && node.state === "running" && !modelHoldsLock(context.cluster, node);
    const api = claims ? { ...context, node: { ...node, role: "primary" } } : context;
    switch (request.method) {
        case "GET":
            return answered(get(api, request));
        case "HEAD":
        case "OPTIONS":
            return answered(bare(healthCheck(request.path, request.query, leadershipOf(api))));
        default: {
            const handled = handleManagement(context, request);
            if (handled.kind === "wait")
                return handled;
            return answered(handled.kind === "reply" ? text(handled.reply) : handled.answer);
        }
    }
}
function get(api, request) {
    const { cluster, node, vocabulary } = api;
    switch (request.head) {
        case "ha":
        case "patroni":
            return json(200, statusDocument(cluster, node, wordsOf(vocabulary)));
        case "cluster":
            return json(200, clusterDocument(cluster));
        case "history":
            return json(200, cluster.history);
        case "config":
            return json(200, cluster.config);
        case "failsafe": {
            const members = failsafeDocument(cluster);
            return members === undefined ? errorPage(502) : json(200, members);
        }
        case "metrics":
            return {
                kind: "full",
                status: 200,
                contentType: "text/plain",
                body: metricsText(cluster, node, wordsOf(vocabulary)),
            };
        case "liveness":
            return bare(livenessOf(api));
        case "readiness":
            return bare(readiness(request.query, leadershipOf(api), cluster.settings.maximumLagOnFailover));
        default: {
            const leadership = leadershipOf(api);
            return json(healthCheck(request.path, request.query, leadership), leadership.report);
        }
    }
}
function leadershipOf({ cluster, node, vocabulary }) {
    const isReceiving = node.state === "running" && node.role !== "primary";
    return {
        report: statusDocument(cluster, node, wordsOf(vocabulary)),
        holdsLock: modelHoldsLock(cluster, node) || (node.claimsLock && node.state === "running"),
        standbyCluster: cluster.settings.standbyCluster,
        seesCluster: true,
        leaderLsn: Math.max(cluster.leaderLsn, isReceiving ? node.receivedLsn : 0),
    };
}
function livenessOf({ cluster, node }) {
    return liveness({
        silentMs: cluster.nowMs - node.lastLoopAtMs,
        loopWaitMs: cluster.settings.loopWaitMs,
        ttlMs: cluster.settings.ttlMs,
        pause: cluster.settings.pause,
        isPrimary: node.role === "primary" && node.state === "running",
    });
}
function answered(answer) {
    return { kind: "answer", answer };
}
//# sourceMappingURL=api.js.map