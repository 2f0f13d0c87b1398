import type { NodeRequest } from "../../core/cluster/management-call.ts";
import type { Node } from "../../core/cluster/node.ts";
import type { ClusterView } from "../../core/health/evidence/leadership/cluster-view.ts";
import type { IncomingCall } from "../../core/http/message/incoming-call.ts";
import { refuseHearsay, refuseUnproved } from "../../core/health/calls/unproved.ts";
import { namedNode } from "../../core/health/calls/target-selection.ts";
import { forward } from "../../core/http/forwarding/forward.ts";
import { headersFor, requestIdOf } from "../../core/http/forwarding/headers.ts";
import type { InFlightLimiter } from "./in-flight-limiter.ts";
import { refuse } from "../../core/http/forwarding/refuse.ts";
import type { NodeCredentials } from "../../core/http/forwarding/node-credentials.ts";

/** What a fetch depends on, in addition to the request. */
export interface FetchContext {
  readonly view: ClusterView;
  readonly credentials: NodeCredentials;
  readonly inFlight: InFlightLimiter;
  /** Whether the address of a node is its own by what this instance itself knows. */
  readonly isOwnAddress: (node: Node) => Promise<boolean>;
}

/** The longest answer, in bytes: longer than any page of metrics. */
const answerMax = 64 * 1024 * 1024;
/** The deadline for the whole answer, in ms: longer than any scrape waits. */
const timeoutMs = 60_000;

/**
 * Streams a node's answer. Limits how many requests to one node are in flight: its API has five
 * threads (Patroni 4.1.4). Sends neither the password nor a body: these are read-only requests.
 */
export async function fetchFromNode(
  request: NodeRequest,
  incoming: IncomingCall,
  { view, credentials, inFlight, isOwnAddress }: FetchContext,
): Promise<void> {
  const { message, response, caller, limits } = incoming;
  const found = namedNode(view, request.node, `GET ${request.path}`);
  if ("error" in found) {
    refuse(response, found);
    return;
  }
  const { node } = found;
  const unproved = refuseUnproved(found);
  if (unproved !== null) {
    refuse(response, unproved);
    return;
  }
  const origin = request.target === "api" ? node.api : node.exporter;
  if (origin === null) {
    const [what, error] = request.target === "api" ? ["API", "no_api"] : ["exporter", "no_exporter"];
    refuse(response, {
      status: 400,
      error,
      message: `Cannot fetch from the ${what} of ${node.name}: none is configured`,
    });
    return;
  }
  const release = inFlight.acquire(`${request.cluster}/${node.name}`, limits.fetches);
  if (release === null) {
    const text = `Cannot fetch from ${node.name}: ${limits.fetches} requests to it are in flight`;
    refuse(response, { status: 429, error: "busy", message: text });
    return;
  }
  const { hasAuth } = credentials;
  const requestId = requestIdOf(message.headers);
  const { host } = new URL(origin);
  try {
    // The headers of a client may hold a password.
    if (!(await isOwnAddress(node))) {
      refuse(response, refuseHearsay(node));
      return;
    }
    await forward({
      call: incoming,
      upstreamName: "The node",
      isFromMainProcess: false,
      origin,
      path: request.path,
      headers: headersFor({ received: message.headers, caller, requestId, host, hasAuth, length: null }),
      body: Buffer.alloc(0),
      credentials: { ...credentials, auth: null },
      timeoutMs,
      answerMax,
      onHead: () => response.setHeader("X-Rolecall-Node", nodeHeader(node.name)),
    });
  } finally {
    release();
  }
}

/** A node's name as the value of `X-Rolecall-Node`: visible ASCII only. */
export function nodeHeader(name: string): string {
  return name.replace(/[^\u0021-\u007e]/g, "?");
}
