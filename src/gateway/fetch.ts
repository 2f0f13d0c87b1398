import type { NodeQuestion } from "../cluster/management-call.ts";
import type { ClusterView } from "../health/evidence/cluster-view.ts";
import type { IncomingCall } from "../http/message/incoming-call.ts";
import { namedNode } from "./checks/target-selection.ts";
import { forward } from "./forward.ts";
import { headersFor, requestIdOf } from "./headers.ts";
import type { InFlight } from "./in-flight.ts";
import { refuse } from "./refuse.ts";
import type { NodeConnection } from "./upstream.ts";

/** What a fetch depends on beside the request. */
export interface FetchContext {
  readonly view: ClusterView;
  readonly upstream: NodeConnection;
  readonly inFlight: InFlight;
}

/** The longest response, in bytes: longer than any page of metrics. */
const answerMax = 64 * 1024 * 1024;
/** The deadline for the whole response, in ms: longer than any scrape waits. */
const timeoutMs = 60_000;

/**
 * Streams a node's response. Limits how many requests of one node are in flight: its API has five workers
 * (reference/node-api.md, "Wire"). Sends neither the password nor a body: this only reads.
 */
export async function fetchFromNode(
  question: NodeQuestion,
  incoming: IncomingCall,
  { view, upstream, inFlight }: FetchContext,
): Promise<void> {
  const { message, response, caller, limits } = incoming;
  const found = namedNode(view, question.node, `GET ${question.path}`);
  if ("error" in found) {
    refuse(response, found);
    return;
  }
  const { node } = found;
  const origin = question.of === "api" ? node.api : node.exporter;
  if (origin === null) {
    const text = `Cannot fetch from the ${question.of === "api" ? "API" : "exporter"} of ${node.name}: none is configured`;
    refuse(response, { status: 400, error: `no_${question.of}`, message: text });
    return;
  }
  const leave = inFlight.enter(`${question.cluster}/${node.name}`, limits.fetches);
  if (leave === null) {
    const text = `Cannot fetch from ${node.name}: ${limits.fetches} requests to it are in flight`;
    refuse(response, { status: 429, error: "busy", message: text });
    return;
  }
  const { hasCredentials } = upstream;
  const requestId = requestIdOf(message.headers);
  const { host } = new URL(origin);
  try {
    await forward({
      call: incoming,
      upstreamName: "The node",
      isOwn: false,
      origin,
      path: question.path,
      headers: headersFor({ received: message.headers, caller, requestId, host, hasCredentials, length: null }),
      body: Buffer.alloc(0),
      upstream: { ...upstream, auth: null },
      timeoutMs,
      answerMax,
      onHead: () => response.setHeader("X-Rolecall-Node", nodeHeader(node.name)),
    });
  } finally {
    leave();
  }
}

/** A node's name as the value of `X-Rolecall-Node`: visible ASCII only. */
export function nodeHeader(name: string): string {
  return name.replace(/[^\u0021-\u007e]/g, "?");
}
