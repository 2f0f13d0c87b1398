import { Client } from "undici";
import { failureOf } from "./failure.js";
/** The longest body read by default, in bytes: more than any document of a node. */
const bodyMax = 1024 * 1024;
const nothing = Buffer.alloc(0);
/**
 * Sends requests to one address, one at a time, over a connection that is kept alive if the node offers it. There is
 * never more than one connection: nodes have few workers and close after each response.
 */
export class NodeClient {
    #client;
    #limits;
    /** @param origin `http://host:port` or `https://host:port` */
    constructor(origin, limits, tls) {
        this.#limits = limits;
        this.#client = new Client(origin, {
            connect: { timeout: limits.connectTimeoutMs, ...tls },
            pipelining: 1,
            headersTimeout: 0,
            bodyTimeout: 0,
            maxHeaderSize: 16_384,
            keepAliveTimeout: 30_000,
        });
    }
    /**
     * Sends `GET path`. Always resolves, after `timeoutMs` at the latest. Does not follow redirects: they are responses.
     */
    get(path) {
        return this.#send(path, null);
    }
    /** Sends `GET path` and passes the body to `sink`; otherwise like {@link get}. */
    async getStreamed(path, sink) {
        const reply = await this.#send(path, sink);
        return "failure" in reply ? reply : { status: reply.status };
    }
    /** Closes the connection. Requests in flight fail. */
    close() {
        this.#client.destroy().catch(() => {
            // Nothing more can be done about a connection that cannot be closed.
        });
    }
    #send(path, sink) {
        return new Promise((resolve) => {
            const request = new ProbeRequest(resolve, sink);
            request.startTimeout(this.#limits.timeoutMs);
            this.#client.dispatch({ path, method: "GET" }, request);
        });
    }
}
/**
 * One request in flight. Undici calls its `on…` methods as the response arrives. Its timeout includes the wait for the
 * connection.
 */
class ProbeRequest {
    #resolve;
    #sink;
    #timer = null;
    #controller = null;
    #isSettled = false;
    #status = 0;
    #length = 0;
    #first = null;
    #chunks = null;
    constructor(resolve, sink) {
        this.#resolve = resolve;
        this.#sink = sink;
    }
    /** Makes the request fail if it has not ended after `timeoutMs`. */
    startTimeout(timeoutMs) {
        const fail = () => this.#fail({ kind: "timeout", detail: `no answer within ${timeoutMs} ms` });
        this.#timer = setTimeout(fail, timeoutMs);
    }
    onRequestStart(controller) {
        this.#controller = controller;
        if (this.#isSettled)
            controller.abort(new Error("timed out before it was sent"));
    }
    onResponseStart(_controller, status) {
        this.#status = status;
    }
    onResponseData(_controller, chunk) {
        this.#length += chunk.length;
        const maxLength = this.#sink?.bodyMax ?? bodyMax;
        if (this.#isSettled)
            return;
        if (this.#length > maxLength)
            this.#fail({ kind: "too_large", detail: `a body of more than ${maxLength} bytes` });
        else if (this.#sink !== null)
            this.#sink.onData(chunk);
        else if (this.#first === null)
            this.#first = chunk;
        else
            (this.#chunks ??= [this.#first]).push(chunk);
    }
    onResponseEnd() {
        this.#settle({
            status: this.#status,
            body: this.#chunks === null ? (this.#first ?? nothing) : Buffer.concat(this.#chunks),
        });
    }
    onResponseError(_controller, error) {
        this.#settle({ failure: failureOf(error) });
    }
    #fail(failure) {
        this.#settle({ failure });
        this.#controller?.abort(new Error(failure.detail));
    }
    #settle(reply) {
        if (this.#isSettled)
            return;
        this.#isSettled = true;
        if (this.#timer !== null)
            clearTimeout(this.#timer);
        this.#resolve(reply);
    }
}
//# sourceMappingURL=client.js.map