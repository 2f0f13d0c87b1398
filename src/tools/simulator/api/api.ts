import { type Answer, bare, errorPage, json, text } from "./answer.ts";
import type { SimulatedRequest } from "./request.ts";
import { healthCheck, liveness, readiness, type ModelLeadership } from "./checks.ts";
import { modelHoldsLock } from "../model/cluster.ts";
import { clusterDocument, failsafeDocument, statusDocument } from "./documents.ts";
import { handleManagement } from "./management.ts";
import { metricsText } from "./metrics.ts";
import type { CallOutcome } from "../model/outcome.ts";
import type { NodeContext } from "./node-context.ts";
import { wordsOf } from "./vocabulary.ts";

/** An answer, or a management call to wait for. */
export type ApiResult = { readonly kind: "answer"; readonly answer: Answer } | Extract<CallOutcome, { kind: "wait" }>;

/**
 * Answers one request at the model's present time. Dispatches on the method and the first path segment, as real nodes
 * do. A GET, HEAD or OPTIONS of anything else is a health check, another method is 501 (Patroni 4.1.4 api.py,
 * parse_request).
 */
export function serveApi(context: NodeContext, request: SimulatedRequest): ApiResult {
  const { node } = context;
  // The fault `claim`: all that its API says is that of a primary, while the model goes on without knowing.
  const claims = node.claimsLock && node.state === "running" && !modelHoldsLock(context.cluster, node);
  const api: NodeContext = claims ? { ...context, node: { ...node, role: "primary" } } : context;
  switch (request.method) {
    case "GET":
      return answered(get(api, request));
    case "HEAD":
    case "OPTIONS":
      return answered(bare(healthCheck(request.path, request.query, leadershipOf(api))));
    default: {
      const handled = handleManagement(context, request);
      if (handled.kind === "wait") return handled;
      return answered(handled.kind === "reply" ? text(handled.reply) : handled.answer);
    }
  }
}

function get(api: NodeContext, request: SimulatedRequest): Answer {
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

function leadershipOf({ cluster, node, vocabulary }: NodeContext): ModelLeadership {
  const isReceiving = node.state === "running" && node.role !== "primary";
  return {
    report: statusDocument(cluster, node, wordsOf(vocabulary)),
    holdsLock: modelHoldsLock(cluster, node) || (node.claimsLock && node.state === "running"),
    standbyCluster: cluster.settings.standbyCluster,
    seesCluster: true,
    leaderLsn: Math.max(cluster.leaderLsn, isReceiving ? node.receivedLsn : 0),
  };
}

function livenessOf({ cluster, node }: NodeContext): 200 | 503 {
  return liveness({
    silentMs: cluster.nowMs - node.lastLoopAtMs,
    loopWaitMs: cluster.settings.loopWaitMs,
    ttlMs: cluster.settings.ttlMs,
    pause: cluster.settings.pause,
    isPrimary: node.role === "primary" && node.state === "running",
  });
}

function answered(answer: Answer): ApiResult {
  return { kind: "answer", answer };
}
