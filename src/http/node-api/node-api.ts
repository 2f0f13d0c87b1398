import { LRUCache } from "lru-cache";
import type { Snapshot } from "../../cluster/snapshot.ts";
import { unrestrictedAccess } from "../../config/model/listener-access-config.ts";
import { viewAt } from "../../health/evidence/cluster-view.ts";
import { validUntilMs } from "../../health/judge/verdict-expiry.ts";
import { hostConflict, type HostNode } from "./target-node.ts";
import { answer, type MemoryRequest, type JudgeInputs } from "./answer.ts";
import { ResponseCache, type CachedResponse } from "./response-cache.ts";
import { diagnosticsPaths } from "./diagnostics-paths.ts";
import { withoutPage } from "../pages/page.ts";
import { isDelegated, type Delegated, type Passthrough } from "../message/passthrough.ts";
import { badRequest, type Reply } from "../message/reply.ts";
import { renderReply } from "../message/http1-serializer.ts";
import { readSimpleRequest } from "../message/simple-request-parser.ts";
import type { Request } from "../message/request.ts";
import { routeRequest, type RoutingContext, type RoutedRequest } from "./route-request.ts";

/** How many characters of questions a listener remembers: some thousand different ones, far more than balancers ask. */
const rememberedMax = 1_000_000;

/** Told of each answer, for the tally. */
export type OnAnswer = (route: string, status: number) => void;

/** What the dialect answers from, and what takes the rest. The app hands it in. */
export interface NodeApiContext {
  readonly inputs: () => JudgeInputs;
  readonly snapshot: () => Snapshot;
  /** Our clock, in ms. */
  readonly now: () => number;
  /** Answers what a person asks; `null` where it is not that. */
  readonly operator: (request: Request) => Reply | Delegated | null;
  readonly passthrough: Passthrough;
  readonly onAnswer: OnAnswer;
}

/** Answers the node dialect: a question that was understood once is not taken apart again. */
export class NodeApi {
  readonly #listening: RoutingContext;
  readonly #sources: NodeApiContext;
  readonly #understood = new LRUCache<string, RoutedRequest>({
    maxSize: rememberedMax,
    sizeCalculation: (_, key) => key.length + 200,
  });

  constructor(listening: RoutingContext, sources: NodeApiContext) {
    this.#listening = listening;
    this.#sources = sources;
  }

  handle(request: Request): Reply | Delegated {
    const question = this.#question(request);
    const { passthrough, inputs, onAnswer } = this.#sources;
    if (question.kind === "management") return { take: (incoming) => passthrough.manage(question.call, incoming) };
    if (question.kind === "node_question") return { take: (passed) => passthrough.fetch(question.question, passed) };
    if (question.kind === "operator_off") {
      const off = answer(question, request, inputs());
      return withoutPage(off, { name: question.path, onAnswer: (status) => onAnswer("operator", status) });
    }
    const reply = question.kind === "operator" ? this.#operator(request) : answer(question, request, inputs());
    if (!isDelegated(reply)) onAnswer(nameOf(question), reply.status);
    return reply;
  }

  /**
   * The cached responses of this listener, none rendered yet.
   * @param idleTimeoutMs how long the listener keeps an idle connection: responses state it
   */
  cached(idleTimeoutMs?: number): ResponseCache {
    return new ResponseCache({
      revision: (cluster) => {
        const { clusters, index } = this.#sources.snapshot();
        return clusters[index.get(cluster) ?? -1]?.revision;
      },
      now: () => this.#sources.now(),
      render: (text) => this.render(text, idleTimeoutMs),
    });
  }

  /**
   * Renders the answer to a chunk that is one simple request about a cluster's nodes.
   * @param text the chunk's bytes as latin1
   * @returns `null` for everything else: what is not understood, our own health, documents with an age
   */
  render(text: string, idleTimeoutMs: number = unrestrictedAccess.limits.idleTimeoutMs): CachedResponse | null {
    const simple = readSimpleRequest(text);
    if (simple === null) return null;
    const { request, keepsConnection } = simple;
    const question = this.#question(request);
    if (question.kind !== "check" && question.kind !== "status") return null;
    const inputs = this.#sources.inputs();
    const { cluster, otherByHost: other } = question.target;
    // The answer also depends on the members of a cluster whose facts it is not remembered by.
    if (other !== null && other.cluster !== cluster) return null;
    const state = inputs.snapshot.clusters[inputs.snapshot.index.get(cluster) ?? -1];
    const policy = inputs.policy(cluster);
    if (state === undefined || policy === undefined) return null;
    const reply = answer(question, request, inputs);
    const route = nameOf(question);
    const limitsTime = question.kind === "check" && question.check.lagTimeMsMax !== null;
    return {
      bytes: renderReply(reply, { method: request.method, keepsConnection, idleTimeoutMs }),
      keepsConnection,
      cluster,
      revision: state.revision,
      untilMs: validUntilMs(viewAt(state, policy, inputs.nowMs), limitsTime),
      count: () => this.#sources.onAnswer(route, reply.status),
    };
  }

  #operator(request: Request): Reply | Delegated {
    return (
      this.#sources.operator(request) ??
      badRequest({ subject: "route", value: request.target, allowed: diagnosticsPaths.join(", ") })
    );
  }

  #question(request: Request): RoutedRequest {
    // None of the four can hold a space or a line break, so the key is theirs alone.
    const key = `${request.method} ${request.target} ${request.nodeHeader ?? ""}\n${this.#listening.scope.hostSuffixes.length === 0 ? "" : (request.host ?? "")}`;
    let question = this.#understood.get(key);
    if (question === undefined) {
      question = routeRequest(request, this.#listening);
      this.#understood.set(key, question);
    }
    const other = otherByHost(question);
    if (other === null) return question;
    // The members may change, so this is looked up each time.
    const problem = hostConflict(other, this.#sources.snapshot());
    return problem === null ? question : { kind: "bad_request", problem };
  }
}

function otherByHost(question: RoutedRequest): HostNode | null {
  if ("otherByHost" in question) return question.otherByHost;
  return "target" in question ? question.target.otherByHost : null;
}

/** The route as the tally counts it: one of a few names, whatever is asked. */
function nameOf(question: MemoryRequest | { readonly kind: "operator" }): string {
  switch (question.kind) {
    case "check":
      return question.check.route;
    case "document":
      return question.name;
    case "self":
      return question.path;
    case "operator_off":
      return "operator";
    case "operator":
    case "status":
    case "bad_request":
    case "not_allowed":
    case "forbidden":
      return question.kind;
  }
}
