import { clusterNamed } from "../cluster/lookup.js";
import { callRules } from "../cluster/management-call.js";
import { viewAt } from "../health/evidence/cluster-view.js";
import { withholdsPassword } from "../health/evidence/node-password.js";
import { BodyLimiter } from "./body-limiter.js";
import { normalizeReinitialize, readCallBody } from "./call-body.js";
import { CallContext } from "./call-context.js";
import { precheck } from "./checks/precheck.js";
import { selectTarget } from "./checks/target-selection.js";
import { fetchFromNode, nodeHeader } from "./fetch.js";
import { forward } from "./forward.js";
import { headersFor, requestIdOf } from "./headers.js";
import { InFlightLimiter } from "./in-flight-limiter.js";
import { refuse } from "./refuse.js";
/** The limit for the answer to a management call, in bytes. The largest real answer is a dynamic configuration. */
const answerMax = 16 * 1024 * 1024;
/** Forwards management calls, and requests that only a node can answer, to that node. */
export class Gateway {
    #dependencies;
    #calls = new InFlightLimiter();
    #fetches = new InFlightLimiter();
    #bodies = new BodyLimiter();
    constructor(context) {
        this.#dependencies = context;
    }
    /** Handles one management call. It always ends with a response or a closed connection, and with one audit record. */
    async manage(call, incoming) {
        const { message, response, limits } = incoming;
        const { now, onCall } = this.#dependencies;
        const requestId = requestIdOf(message.headers);
        response.setHeader("X-Request-Id", requestId);
        const context = new CallContext(call, incoming, { requestId, now, onCall });
        const body = await readCallBody(context, this.#bodies);
        if (body === null)
            return;
        // Only a call whose body is complete counts, so that a client that sends slowly delays nobody.
        const release = call.isDryRun ? () => { } : this.#calls.acquire(call.cluster, limits.callsInFlight);
        if (release === null) {
            const text = `Cannot forward the call: ${limits.callsInFlight} calls of cluster ${call.cluster} are in flight`;
            context.refuse({ status: 429, error: "busy", message: text });
            return;
        }
        try {
            await this.#route(context, body);
        }
        finally {
            release();
        }
    }
    /** Streams what only a node can answer: its metrics, and its exporter's pages. */
    async fetch(request, incoming) {
        const { cluster } = request;
        const view = this.#viewOf(cluster);
        if (view === null) {
            refuse(incoming.response, unknownCluster(cluster));
            return;
        }
        const credentials = this.#dependencies.credentials(cluster);
        await fetchFromNode(request, incoming, { view, credentials, inFlight: this.#fetches });
    }
    async #route(context, body) {
        const { call } = context;
        const view = this.#viewOf(call.cluster);
        if (view === null) {
            this.#answerLocally(context, null, unknownCluster(call.cluster));
            return;
        }
        const target = selectTarget(view, call);
        if ("error" in target) {
            this.#answerLocally(context, null, target);
            return;
        }
        const wallMs = this.#dependencies.wall();
        const refusal = refusePlaintextPassword(target.node, view) ?? precheck({ call, body, view, node: target, wallMs });
        if (call.isDryRun || refusal !== null)
            this.#answerLocally(context, target, refusal);
        else
            await this.#forward(context, target, call.name === "reinitialize" ? normalizeReinitialize(body) : body);
    }
    /** Answers a call that is not forwarded: a dry run, or a call with a refusal. */
    #answerLocally(context, target, refusal) {
        if (context.call.isDryRun)
            context.answerDryRun(target, refusal);
        else if (refusal !== null)
            context.refuse(refusal, target);
    }
    async #forward(context, target, body) {
        const { node } = target;
        if (node.api === null) {
            const text = `Cannot forward the call: ${node.name} has no API`;
            context.refuse({ status: 503, error: "no_api", message: text }, target);
            return;
        }
        const { call, incoming, requestId } = context;
        const { message, response, caller, limits } = incoming;
        const length = call.method === "DELETE" ? null : body.length;
        const changesRoles = callRules.get(call.name)?.roleChangingMethods.includes(call.method) === true;
        const credentials = this.#dependencies.credentials(call.cluster);
        const { host } = new URL(node.api);
        const { hasAuth } = credentials;
        const { status, problem } = await forward({
            call: incoming,
            upstreamName: "The node",
            isFromMainProcess: false,
            origin: node.api,
            path: `/${call.name}`,
            headers: headersFor({ received: message.headers, caller, requestId, host, hasAuth, length }),
            body: length === null ? Buffer.alloc(0) : body,
            credentials,
            timeoutMs: limits.callTimeoutMs,
            answerMax,
            onHead: () => {
                response.setHeader("X-Rolecall-Node", nodeHeader(node.name));
                if (!changesRoles)
                    return;
                const { instance, sequence } = this.#dependencies.snapshot();
                response.setHeader("X-Rolecall-Snapshot", `${instance}.${sequence}`);
                this.#dependencies.probeNow(call.cluster);
            },
        });
        // The node may have executed the call although its answer was lost.
        if (changesRoles && problem !== null)
            this.#dependencies.probeNow(call.cluster);
        context.audit({ node: node.name, status, outcome: "passed", problem });
    }
    #viewOf(cluster) {
        const state = clusterNamed(this.#dependencies.snapshot(), cluster);
        const policy = this.#dependencies.policy(cluster);
        return state === undefined || policy === undefined ? null : viewAt(state, policy, this.#dependencies.now());
    }
}
/**
 * Refuses to send the node password without TLS if TLS is configured. The address may come from a member list, which
 * must not be able to make us send the password unencrypted.
 */
function refusePlaintextPassword(node, { policy }) {
    if (!withholdsPassword(node, policy))
        return null;
    const message = `Cannot forward the call: the API address of ${node.name} must be https in a cluster with TLS, got ${node.api}`;
    return { status: 503, error: "password_in_clear", message };
}
function unknownCluster(name) {
    return {
        status: 400,
        error: "bad_request",
        message: `Cannot find cluster ${JSON.stringify(name)}: it is not configured`,
    };
}
//# sourceMappingURL=gateway.js.map