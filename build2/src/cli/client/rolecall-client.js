import { setTimeout as pause } from "node:timers/promises";
import { isObject, parseJson } from "../../cluster/values/json.js";
import { connectionOf } from "../connect/connection.js";
import { readServerCredentials } from "../connect/credentials.js";
import { exchangeOnce } from "../connect/exchange.js";
import { defaultServers, findListener } from "../connect/listener-finder.js";
import { CommandError } from "../framework/command-error.js";
import { durationOption } from "../framework/arguments.js";
import { withDeadline } from "./deadline.js";
import { isFromNode, isFromWrongListener, nodeInstead, wrongListener } from "./wrong-server.js";
/**
 * HTTP client for a running rolecall. Uses one connection per request, and limits the duration of each. If the server
 * turns out to be another listener than the command needs, asks it for the right one, and goes on there.
 */
export class RolecallClient {
    #listener;
    #address;
    #timeoutMs;
    #credentials;
    #signal;
    #base;
    /** The searches so far: one for each kind of listener, shared by its callers. */
    #searches = new Map();
    /**
     * @param defaultTimeout the timeout of each request unless a timeout is set, such as `10s`
     * @throws CommandError if an option is not valid or a file cannot be read
     */
    constructor(context, listener, defaultTimeout = "10s") {
        const { settings } = connectionOf(context);
        const timeout = settings.values.get("timeout");
        this.#listener = listener;
        this.#address = settings.address;
        this.#timeoutMs = durationOption(timeout?.from ?? "--timeout", timeout?.value ?? defaultTimeout);
        this.#credentials = readServerCredentials(settings);
        this.#signal = context.signal;
        this.#base = this.#defaultBase(listener);
        warnOfExposed(context, this.#credentials.exposed);
    }
    /** The server in use. It changes when the client finds the listener that the command needs. */
    get url() {
        return this.#base.origin;
    }
    /** @throws CommandError (RC005) if there is no response within the timeout */
    get(path) {
        return this.call({ method: "GET", path });
    }
    /** Requests a JSON object. @throws CommandError (RC007) if the status is not 200 or the body is not an object */
    async getObject(path) {
        return this.objectOf(path, await this.getPage(path));
    }
    /** Requests a page that is rendered for one client at a time. While it is busy (429), retries until the timeout. */
    async getPage(path) {
        const endMs = performance.now() + this.#timeoutMs;
        for (;;) {
            const reply = await this.get(path);
            const waitMs = 1_000 * Number(reply.headers["retry-after"] ?? NaN);
            if (reply.status !== 429 || !(performance.now() + waitMs < endMs))
                return reply;
            await pause(waitMs, undefined, { signal: this.#signal }).catch(() => { }); // the next request reports the abort
        }
    }
    /**
     * Parses a response as a JSON object.
     * @throws CommandError (RC007) if the status is not 200 or it is not an object
     */
    objectOf(path, reply) {
        const value = parseJson(reply.text);
        if (reply.status !== 200 || !isObject(value)) {
            throw new CommandError("RC007", `Cannot read ${this.url}${path}: it must be 200 with a JSON object, ` +
                `got ${reply.status} ${reply.phrase}: ${replyMessage(reply)}`);
        }
        return value;
    }
    /** Sends a request. @throws CommandError (RC005) if there is no response within the timeout */
    async call(request) {
        const { base, reply } = await this.#sendFirst(request);
        if (isFromNode(reply))
            throw nodeInstead(base);
        if (!isFromWrongListener(reply))
            return reply;
        const kind = kindFor(this.#listener, request);
        const found = await this.#find(kind, base);
        // A health listener says itself that management calls are off.
        const isOff = found.kind === "missing" && kind === "management" && found.dialect === "node";
        if (found.kind === "here" || isOff)
            return reply;
        if (found.kind !== "found")
            throw wrongListener(base, kind, found);
        this.#base = found.url;
        return found.url.origin === base.origin ? reply : this.#send(found.url, request);
    }
    #find(kind, base) {
        const search = this.#searches.get(kind) ?? findListener(base, kind, (url) => this.#describe(url));
        this.#searches.set(kind, search);
        return search;
    }
    /** Sends a request to the server. Where nobody named its port, tries that of the other listener too. */
    async #sendFirst(request) {
        const base = this.#base;
        try {
            return { base, reply: await this.#send(base, request) };
        }
        catch (error) {
            const isRefused = error instanceof CommandError && error.cause === "ECONNREFUSED";
            const other = this.#defaultBase(this.#listener === "admin" ? "node" : "admin");
            if (!isRefused || this.#address?.hasPort === true || (await this.#describe(other)) === null)
                throw error;
            const found = await this.#find(this.#listener, other);
            this.#base = found.kind === "found" ? found.url : other;
            return { base: this.#base, reply: await this.#send(this.#base, request) };
        }
    }
    #defaultBase(listener) {
        if (this.#address === null)
            return new URL(defaultServers[listener]);
        const url = new URL(this.#address.url);
        if (!this.#address.hasPort)
            url.port = new URL(defaultServers[listener]).port;
        return url;
    }
    /** Requests what a listener says about itself; `null` if it does not answer. */
    #describe(base) {
        return this.#send(base, { method: "GET", path: "/livez" }).catch(() => null);
    }
    async #send(base, { method, path, body }) {
        const text = body === undefined ? null : JSON.stringify(body);
        const headers = {
            ...this.#credentials.headers,
            Accept: "application/json",
            ...(text === null
                ? {}
                : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(text)) }),
        };
        return withDeadline(this.#timeoutMs, [this.#signal], async (signal) => {
            try {
                const parts = { tls: this.#credentials.tls, body: text };
                return await exchangeOnce(new URL(path, base), { method, headers, signal }, parts);
            }
            catch (error) {
                const cause = signal.aborted ? `no response within ${this.#timeoutMs} ms` : messageOf(error);
                const failure = new CommandError("RC005", `Cannot reach rolecall at ${base.origin}: ${cause}`);
                failure.cause = error instanceof Error && "code" in error ? error.code : undefined;
                throw failure;
            }
        });
    }
}
/** The listener that a request needs. A call that changes something needs a health listener that forwards it. */
function kindFor(listener, { method }) {
    return listener === "node" && method !== "GET" ? "management" : listener;
}
/** Warns once of each file with a secret that others can read. */
function warnOfExposed({ result }, files) {
    for (const file of files) {
        const message = `${file} holds a secret, and every user of this machine can read it`;
        if (result.diagnostics.some((diagnostic) => diagnostic.message === message))
            continue;
        result.diagnose("RC015", { message, action: `Run chmod o-rwx ${file}` });
    }
}
function messageOf(error) {
    return error instanceof Error ? error.message : String(error);
}
/** The error message of a response: `message` of its JSON body, else the start of its text. */
export function replyMessage({ text }) {
    const value = parseJson(text);
    const message = isObject(value) ? value["message"] : undefined;
    return typeof message === "string"
        ? message
        : text
            .replaceAll(/<[^>]*>/g, " ")
            .replaceAll(/\s+/g, " ")
            .trim()
            .slice(0, 300);
}
//# sourceMappingURL=rolecall-client.js.map