import { type Answer, bare, errorPage, json, text } from "./answer.ts";
import type { SimulatedRequest } from "./request.ts";
import { healthCheck, liveness, readiness, type ModelLeadership } from "./checks.ts";
import { type Cluster, modelHoldsLock } from "../model/cluster.ts";
import { clusterDocument, failsafeDocument, statusDocument } from "./documents.ts";
import { handleManagement } from "./management.ts";
import { metricsText } from "./metrics.ts";
import type { SimulatedNode } from "../model/node.ts";
import type { CallOutcome } from "../model/outcome.ts";
import { type Vocabulary, wordsOf } from "./vocabulary.ts";

/** One node's API: the model it lives in, the node it speaks for, the names it uses. */
export interface Api {
  readonly cluster: Cluster;
  readonly node: SimulatedNode;
  readonly vocabulary: Vocabulary;
}

/** An answer, or a management call that must be waited for. */
export type Served = { readonly kind: "answer"; readonly answer: Answer } | Extract<CallOutcome, { kind: "wait" }>;

/**
 * Answers one request at the model's present time. Like real nodes it dispatches on method and first path segment; a GET, HEAD or OPTIONS
 * of anything else is a health check, another method 501 (Patroni 4.1.4 api.py, parse_request).
 */
export function serveApi(api: Api, asked: SimulatedRequest): Served {
  switch (asked.method) {
    case "GET":
      return answered(get(api, asked));
    case "HEAD":
    case "OPTIONS":
      return answered(bare(healthCheck(asked.path, asked.query, standingOf(api))));
    default: {
      const managed = handleManagement(api, asked);
      if (managed.kind === "wait") return managed;
      return answered(managed.kind === "reply" ? text(managed.reply) : managed.answer);
    }
  }
}

function get(api: Api, asked: SimulatedRequest): Answer {
  const { cluster, node, vocabulary } = api;
  switch (asked.head) {
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
      return bare(readiness(asked.query, standingOf(api), cluster.settings.maximumLagOnFailover));
    default: {
      const standing = standingOf(api);
      return json(healthCheck(asked.path, asked.query, standing), standing.report);
    }
  }
}

function standingOf({ cluster, node, vocabulary }: Api): ModelLeadership {
  const isReceiving = node.state === "running" && node.role !== "primary";
  return {
    report: statusDocument(cluster, node, wordsOf(vocabulary)),
    holdsLock: modelHoldsLock(cluster, node),
    standbyCluster: cluster.settings.standbyCluster,
    seesCluster: true,
    leaderLsn: Math.max(cluster.leaderLsn, isReceiving ? node.receivedLsn : 0),
  };
}

function livenessOf({ cluster, node }: Api): 200 | 503 {
  return liveness({
    silentMs: cluster.nowMs - node.lastLoopAtMs,
    loopWaitMs: cluster.settings.loopWaitMs,
    ttlMs: cluster.settings.ttlMs,
    pause: cluster.settings.pause,
    isPrimary: node.role === "primary" && node.state === "running",
  });
}

function answered(answer: Answer): Served {
  return { kind: "answer", answer };
}
