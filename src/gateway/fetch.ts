import type { NodeQuestion } from "../cluster/management-call.ts";
import type { ClusterView } from "../health/evidence/cluster-view.ts";
import { namedNode } from "./checks/target-selection.ts";
import { forward } from "./forward.ts";
import { headersFor, requestIdOf } from "./headers.ts";
import type { InFlight } from "./in-flight.ts";
import type { GatewayCall } from "./passed.ts";
import { refuse } from "./reply.ts";
import type { NodeConnection } from "./upstream.ts";

/** What an asking needs beside the question. */
export interface FetchContext {
  readonly view: ClusterView;
  readonly upstream: NodeConnection;
  readonly inFlight: InFlight;
}

/** Longer than any exposition, in bytes. */
const answerMax = 64 * 1024 * 1024;
/** Longer than any scrape waits, in ms. */
const timeoutMs = 60_000;

/**
 * Streams a node's answer, with a bound on how many of one node's are under way: its API has five workers (reference/node-api.md,
 * "Wire"). Password and body stay here: this only reads.
 */
export async function fetchFromNode(
  question: NodeQuestion,
  passed: GatewayCall,
  { view, upstream, inFlight }: FetchContext,
): Promise<void> {
  const { message, response, caller, limits, onError } = passed;
  const found = namedNode(view, question.node, `GET ${question.path}`);
  if ("error" in found) {
    refuse(response, found);
    return;
  }
  const origin = question.of === "api" ? found.node.api : found.node.exporter;
  if (origin === null) {
    refuse(response, {
      status: 400,
      error: `no_${question.of}`,
      message: `Cannot ask the ${question.of === "api" ? "API" : "exporter"} of ${found.node.name}: none is configured`,
    });
    return;
  }
  const leave = inFlight.enter(`${question.cluster}/${found.node.name}`, limits.fetches);
  if (leave === null) {
    const busy = `Cannot ask ${found.node.name}: ${limits.fetches} streamed answers of it are under way already`;
    refuse(response, { status: 429, error: "busy", message: busy });
    return;
  }
  try {
    const requestId = requestIdOf(message.headers);
    const headers = headersFor({
      received: message.headers,
      caller,
      requestId,
      host: new URL(origin).host,
      hasCredentials: upstream.hasCredentials,
      length: null,
    });
    await forward({
      method: "The node",
      isOwn: false,
      message,
      response,
      origin,
      path: question.path,
      headers,
      body: Buffer.alloc(0),
      upstream: { ...upstream, auth: null },
      timeoutMs,
      answerMax,
      onError,
      onHead: () => response.setHeader("X-Rolecall-Node", found.node.name.replace(/[^\u0021-\u007e]/g, "?")),
    });
  } finally {
    leave();
  }
}
