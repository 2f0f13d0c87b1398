import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { answerExchange, requestOf } from "../http/message/http-exchange.js";
import { relayHeaders, takeRelayed } from "../gateway/relay.js";
/** Larger than any request head that a worker accepts, with the headers that the worker adds. In bytes. */
const headMax = 32_768;
/** Takes the requests that workers relay: on loopback, and only with a secret made for this run. */
export class RelayServer {
    #secret = randomBytes(32).toString("hex");
    #server;
    #listeners = new Map();
    constructor() {
        this.#server = createServer({ maxHeaderSize: headMax, requireHostHeader: false }, (message, response) => this.#serve(message, response));
    }
    /** Starts listening. @throws the system's error */
    async open() {
        await new Promise((resolve, reject) => {
            this.#server.once("error", reject);
            this.#server.listen({ host: "127.0.0.1", port: 0 }, () => {
                // An accept that fails later makes the worker answer 502. It must not end this process.
                this.#server.on("error", () => { });
                resolve();
            });
        });
        const address = this.#server.address();
        return { port: typeof address === "object" && address !== null ? address.port : 0, secret: this.#secret };
    }
    /** Answers for these listeners, by key, from now on. */
    answerFor(listeners) {
        this.#listeners = listeners;
    }
    close() {
        this.#server.close();
        this.#server.closeAllConnections();
    }
    #serve(message, response) {
        try {
            this.#answer(message, response);
        }
        catch {
            message.socket.destroy(); // the worker answers its client 502
        }
    }
    #answer(message, response) {
        const relayed = this.#isSecret(message.headers[relayHeaders.secret]) ? takeRelayed(message) : null;
        const listener = relayed === null ? undefined : this.#listeners.get(relayed.listener);
        if (relayed === null || listener === undefined) {
            message.socket.destroy();
            return;
        }
        const { config, handler, events } = listener;
        const exchange = { message, response, request: requestOf(message) };
        answerExchange(handler, exchange, {
            caller: relayed.caller,
            limits: config.access.limits,
            onError: events.onError,
        });
    }
    #isSecret(given) {
        const [ours, theirs] = [Buffer.from(this.#secret), Buffer.from(typeof given === "string" ? given : "")];
        return ours.length === theirs.length && timingSafeEqual(ours, theirs);
    }
}
//# sourceMappingURL=relay-server.js.map