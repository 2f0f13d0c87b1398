import { LRUCache } from "lru-cache";
import { clusterNamed } from "../../cluster/lookup.js";
import { unrestrictedAccess } from "../../config/model/listener-access-config.js";
import { renderReply } from "../message/http1-serializer.js";
import { prepareReply } from "../message/reply.js";
import { readSimpleRequest } from "../message/simple-request-parser.js";
import { refusePage } from "../pages/page.js";
import { answer, answerCluster, answerSelf } from "./answer.js";
import { ResponseCache } from "./response-cache.js";
import { routeRequest } from "./route-request.js";
import { hostConflict } from "./target-node.js";
/** The size of the cache of routed requests, in characters: some thousand requests, far more than balancers send. */
const routedMax = 1_000_000;
/** Answers the node API of one listener. Parses and routes a repeated request once, and caches its reply. */
export class NodeApi {
    #routing;
    #context;
    #routed = new LRUCache({
        maxSize: routedMax,
        sizeCalculation: (_, key) => key.length + 200,
    });
    #replies;
    constructor(routing, context) {
        this.#routing = routing;
        this.#context = context;
        this.#replies = new ResponseCache({
            revision: (cluster) => this.#revisionOf(cluster),
            now: context.now,
            render: (key, request) => this.#prepare(key, request),
        });
    }
    /** @returns `null` if the response is written */
    async handle(call) {
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
    cached(idleTimeoutMs) {
        return new ResponseCache({
            revision: (cluster) => this.#revisionOf(cluster),
            now: () => this.#context.now(),
            render: (text) => this.render(text, idleTimeoutMs),
        });
    }
    /**
     * Renders the response to a chunk that is one simple request for a check or status.
     * @param text the chunk's bytes as latin1
     * @returns `null` for everything else: other requests, and responses that cannot be cached
     */
    render(text, idleTimeoutMs = unrestrictedAccess.limits.idleTimeoutMs) {
        const simple = readSimpleRequest(text);
        if (simple === null)
            return null;
        const { request, keepsConnection } = simple;
        const evaluated = this.#evaluate(this.#route(this.#keyOf(request), request), request);
        if (evaluated === null)
            return null;
        const { reply, ...entry } = evaluated;
        const bytes = renderReply(reply, { method: request.method, keepsConnection, idleTimeoutMs });
        return { ...entry, bytes, keepsConnection };
    }
    #prepare(key, request) {
        const evaluated = this.#evaluate(this.#route(key, request), request);
        return evaluated === null ? null : { ...evaluated, reply: prepareReply(evaluated.reply, request.method) };
    }
    /** Answers a check or status request, with what the reply depends on. Returns `null` for everything else. */
    #evaluate(routed, request) {
        if (routed.kind !== "check" && routed.kind !== "status")
            return null;
        const inputs = this.#context.inputs();
        const { cluster, otherByHost: other } = routed.target;
        // Whether Host names a node depends on the members of its cluster, which need not be the one that the entry depends
        // on.
        if (other !== null && other.cluster !== cluster)
            return null;
        const state = clusterNamed(inputs.snapshot, cluster);
        if (state === undefined || inputs.policy(cluster) === undefined)
            return null;
        const { reply, validUntilMs } = answerCluster(routed, request, inputs);
        const route = routeNameOf(routed);
        return {
            reply,
            cluster,
            revision: state.revision,
            validUntilMs,
            count: () => this.#context.onAnswer(route, reply.status),
        };
    }
    async #handleUncached(routed, call) {
        const { passthrough, operator, inputs, onAnswer } = this.#context;
        switch (routed.kind) {
            case "management":
                await passthrough.manage(routed.call, call);
                return null;
            case "node_request":
                await passthrough.fetch(routed.request, call);
                return null;
            case "operator_off": {
                const page = { name: routed.path, onAnswer: (status) => onAnswer("operator", status) };
                return refusePage(page, call, answer(routed, call.request, inputs()));
            }
            case "operator": {
                const reply = await operator(call);
                if (reply !== null)
                    onAnswer("operator", reply.status);
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
                const reply = answer(routed, call.request, inputs());
                onAnswer(routeNameOf(routed), reply.status);
                return reply;
            }
        }
    }
    /** The key of a request: what its routing depends on. None of the four parts can hold a space or a line break. */
    #keyOf({ method, target, nodeHeader = "", host = "" }) {
        return `${method} ${target} ${nodeHeader}\n${this.#routing.scope.hostSuffixes.length === 0 ? "" : host}`;
    }
    #route(key, request) {
        let routed = this.#routed.get(key);
        if (routed === undefined) {
            routed = routeRequest(request, this.#routing);
            this.#routed.set(key, routed);
        }
        const other = otherByHost(routed);
        if (other === null)
            return routed;
        // The members may have changed since the request was routed.
        const problem = hostConflict(other, this.#context.snapshot());
        return problem === null ? routed : { kind: "bad_request", problem };
    }
    #revisionOf(cluster) {
        return clusterNamed(this.#context.snapshot(), cluster)?.revision;
    }
}
function otherByHost(routed) {
    if ("otherByHost" in routed)
        return routed.otherByHost;
    return "target" in routed ? routed.target.otherByHost : null;
}
/** The route in the metric of answers: one of a few names, whatever was requested. */
function routeNameOf(routed) {
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
//# sourceMappingURL=node-api.js.map