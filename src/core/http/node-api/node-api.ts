import { LRUCache } from "lru-cache";
import { clusterNamed } from "../../cluster/lookup.ts";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { unrestrictedAccess } from "../../config/model/listener-access-config.ts";
import type { RequestHandler } from "../message/handler.ts";
import { renderReply } from "../message/http1-serializer.ts";
import type { IncomingCall } from "../message/incoming-call.ts";
import type { Passthrough } from "../message/passthrough.ts";
import { prepareReply, type Reply } from "../message/reply.ts";
import type { Request } from "../message/request.ts";
import type { CheckSender } from "../message/server-census.ts";
import { readSimpleRequest, type SimpleRequest } from "../message/simple-request-parser.ts";
import { refusePage } from "../pages/page.ts";
import { answer, answerCluster, answerSelf, type JudgeInputs, type MemoryRequest } from "./answer.ts";
import { parseServerName, takesSessions } from "./haproxy-server-state.ts";
import type { DescribeListeners } from "./listener-directory.ts";
import { ResponseCache, type CachedReply, type CachedResponse, type CacheEntry } from "./response-cache.ts";
import { routeRequest, type RoutedCheck, type RoutedRequest } from "./route-request.ts";
import type { RoutingContext } from "./routing-context.ts";
import { hostConflict, type HostNode } from "./target-node.ts";

/** The size of the cache of routed requests, in characters: some thousand requests, far more than balancers send. */
const routedMax = 1_000_000;

/** Counts an answer by its route and status, and by the server of HAProxy whose check it answers. */
export type OnAnswer = (route: string, status: number, sender?: CheckSender) => void;

/** What the node API answers from, and where it sends what it does not answer itself. */
export interface NodeApiContext {
  readonly inputs: () => JudgeInputs;
  readonly snapshot: () => Snapshot;
  /** In ms of rolecall's clock. */
  readonly now: () => number;
  /** Serves the diagnostics pages. */
  readonly diagnostics: RequestHandler;
  readonly passthrough: Passthrough;
  readonly onAnswer: OnAnswer;
  /**
   * Called for each check whose reply is made; replies are kept for up to a second. `isNamed`: whether a node is named
   * by the check, and not by its listener.
   */
  readonly onCheck?: (asked: RoutedCheck, isNamed: boolean) => void;
  /** Says which listeners the sender of a request can reach; without it, `/livez` and `/readyz` name none. */
  readonly listeners?: DescribeListeners;
}

/** Answers the node API of one listener. Parses and routes a repeated request once, and caches its reply. */
export class NodeApi {
  readonly #routing: RoutingContext;
  readonly #context: NodeApiContext;
  readonly #routed = new LRUCache<string, RoutedRequest>({
    maxSize: routedMax,
    sizeCalculation: (_, key) => key.length + 200,
  });
  readonly #replies: ResponseCache<CachedReply, Request>;

  constructor(routing: RoutingContext, context: NodeApiContext) {
    this.#routing = routing;
    this.#context = context;
    this.#replies = new ResponseCache({
      revision: (cluster) => this.#revisionOf(cluster),
      now: context.now,
      render: (key, request) => this.#prepare(key, request),
    });
  }

  /** @returns `null` if the response is written */
  async handle(call: IncomingCall): Promise<Reply | null> {
    const { request } = call;
    const key = this.#keyOf(request);
    // HAProxy's server state holds counters that differ each time: a reply to it would not be found again.
    const cached = request.serverState === undefined ? this.#replies.find(key, request) : null;
    return cached === null ? this.#handleUncached(this.#route(key, request), call) : cached.reply;
  }

  /**
   * The cached responses of this listener for the fast path, none rendered yet.
   * @param idleTimeoutMs how long the listener keeps an idle connection: responses state it
   */
  cached(idleTimeoutMs?: number): ResponseCache {
    return new ResponseCache({
      revision: (cluster) => this.#revisionOf(cluster),
      now: () => this.#context.now(),
      render: (text, _, outdated) => this.#render(outdated ?? readSimpleRequest(text), idleTimeoutMs),
    });
  }

  /**
   * Renders the response to a chunk that is one simple request for a check or status.
   * @param text the chunk's bytes as latin1
   * @returns `null` for everything else: other requests, and responses that cannot be cached
   */
  render(text: string): CachedResponse | null {
    return this.#render(readSimpleRequest(text));
  }

  #render(
    simple: SimpleRequest | null,
    idleTimeoutMs: number = unrestrictedAccess.limits.idleTimeoutMs,
  ): CachedResponse | null {
    if (simple === null) return null;
    const { request, keepsConnection } = simple;
    const evaluated = this.#evaluate(this.#route(this.#keyOf(request), request), request);
    if (evaluated === null) return null;
    const { reply, cluster, revision, validUntilMs, count } = evaluated;
    const bytes = renderReply(reply, { method: request.method, keepsConnection, idleTimeoutMs });
    return { cluster, revision, validUntilMs, count, bytes, keepsConnection, request };
  }

  #prepare(key: string, request: Request): CachedReply | null {
    const evaluated = this.#evaluate(this.#route(key, request), request);
    return evaluated === null ? null : { ...evaluated, reply: prepareReply(evaluated.reply, request.method) };
  }

  /** Answers a check or status request, with what the reply depends on. Returns `null` for everything else. */
  #evaluate(routed: RoutedRequest, request: Request): (CacheEntry & { readonly reply: Reply }) | null {
    if (routed.kind !== "check" && routed.kind !== "status") return null;
    const inputs = this.#context.inputs();
    const { cluster, otherByHost: other } = routed.target;
    // Whether Host names a node depends on the members of its cluster, which need not be the one that the entry depends
    // on.
    if (other !== null && other.cluster !== cluster) return null;
    const state = clusterNamed(inputs.snapshot, cluster);
    if (state === undefined || inputs.policy(cluster) === undefined) return null;
    if (routed.kind === "check") this.#noteCheck(routed);
    const { reply, validUntilMs } = answerCluster(routed, request, inputs);
    const route = routeNameOf(routed);
    const sender = senderOf(request, cluster, reply);
    return {
      reply,
      cluster,
      revision: state.revision,
      validUntilMs,
      count: () => this.#context.onAnswer(route, reply.status, sender),
    };
  }

  async #handleUncached(routed: RoutedRequest, call: IncomingCall): Promise<Reply | null> {
    const { passthrough, diagnostics, inputs, onAnswer } = this.#context;
    switch (routed.kind) {
      case "management":
        await passthrough.manage(routed.call, call);
        return null;
      case "node_request":
        await passthrough.fetch(routed.request, call);
        return null;
      case "operator_off": {
        const page = { name: routed.path, onAnswer: (status: number) => onAnswer("operator", status) };
        return refusePage(page, call, answer(routed, call.request, inputs()));
      }
      case "operator": {
        const reply = await diagnostics(call);
        if (reply !== null) onAnswer("operator", reply.status);
        return reply;
      }
      case "self": {
        const reply = answerSelf(routed.path, inputs().unready(), this.#context.listeners?.(call.message));
        onAnswer(routed.path, reply.status);
        return reply;
      }
      case "check":
      case "status":
      case "document":
      case "bad_request":
      case "not_allowed":
      case "forbidden": {
        if (routed.kind === "check") this.#noteCheck(routed);
        const reply = answer(routed, call.request, inputs());
        onAnswer(routeNameOf(routed), reply.status, senderOf(call.request, clusterOf(routed), reply));
        return reply;
      }
    }
  }

  #noteCheck(asked: RoutedCheck): void {
    this.#context.onCheck?.(asked, this.#routing.scope.node === null);
  }

  /** The key of a request: what its routing depends on. None of the four parts can hold a space or a line break. */
  #keyOf({ method, target, nodeHeader = "", host = "" }: Request): string {
    return `${method} ${target} ${nodeHeader}\n${this.#routing.scope.hostSuffixes.length === 0 ? "" : host}`;
  }

  #route(key: string, request: Request): RoutedRequest {
    let routed = this.#routed.get(key);
    if (routed === undefined) {
      routed = routeRequest(request, this.#routing);
      this.#routed.set(key, routed);
    }
    const other = otherByHost(routed);
    if (other === null) return routed;
    // The members may have changed since the request was routed.
    const problem = hostConflict(other, this.#context.snapshot());
    return problem === null ? routed : { kind: "bad_request", problem };
  }

  #revisionOf(cluster: string): number | undefined {
    return clusterNamed(this.#context.snapshot(), cluster)?.revision;
  }
}

function otherByHost(routed: RoutedRequest): HostNode | null {
  if ("otherByHost" in routed) return routed.otherByHost;
  return "target" in routed ? routed.target.otherByHost : null;
}

/** The cluster that a request is about; `null` if it names none that is known. */
function clusterOf(routed: MemoryRequest): string | null {
  return "target" in routed ? routed.target.cluster : null;
}

/** The server of HAProxy that a check names as its sender, with the cluster that it is about and why it gets a no. */
function senderOf(
  { serverState }: Request,
  cluster: string | null,
  { headers, status }: Reply,
): CheckSender | undefined {
  const server = parseServerName(serverState);
  if (server === undefined || serverState === undefined) return undefined;
  const at = status === 200 ? -1 : headers.indexOf("X-Rolecall-Reason");
  const reason = at < 0 ? null : (headers[at + 1] ?? null);
  return { server, cluster, reason, takes: takesSessions(serverState, status) };
}

/** The route in the metric of answers: one of a few names, whatever was requested. */
function routeNameOf(routed: MemoryRequest): string {
  switch (routed.kind) {
    case "check":
      return routed.check.route;
    case "document":
      return routed.name;
    case "operator_off":
      return "operator";
    case "status":
    case "bad_request":
    case "not_allowed":
    case "forbidden":
      return routed.kind;
  }
}
