import { unmapped } from "../../config/values/cidr.js";
import { ownBudget } from "./connection-budget.js";
/** Counts the connections of one listener and of each address, and closes those above the limits. */
export class ConnectionLimiter {
    #byAddress = new Map();
    #waiting = new WeakMap();
    /** One listener for all responses: a closure for each would cost the request path. */
    #onResponseClosed;
    #onRefused;
    #budget;
    #limits;
    #count = 0;
    /**
     * @param onRefused called with the address of each connection that is closed
     * @param budget the limit that all listeners of the process share
     */
    constructor(limits, onRefused, budget = ownBudget) {
        this.#limits = limits;
        this.#budget = budget;
        this.#onRefused = onRefused;
        const waiting = this.#waiting;
        this.#onResponseClosed = function onResponseClosed() {
            const count = waiting.get(this.req.socket);
            if (count !== undefined)
                count.requests -= 1;
        };
    }
    /** Applies new limits. Open connections stay. */
    limitTo(limits) {
        this.#limits = limits;
    }
    /** Must be called for every new socket. Resets one above the limits before anything is read. */
    onConnection(socket) {
        const address = this.acquire(socket.remoteAddress ?? "");
        if (address !== null) {
            socket.once("close", () => this.release(address));
            return;
        }
        this.#onRefused(unmapped(socket.remoteAddress ?? ""));
        socket.on("error", () => { }); // caused by the reset
        socket.resetAndDestroy();
    }
    /**
     * Counts a new connection.
     * @returns the address to release it with; `null` if it exceeds a limit and is not counted
     */
    acquire(peer) {
        const address = unmapped(peer);
        const own = this.#byAddress.get(address) ?? 0;
        if (this.#count >= this.#limits.connections || own >= this.#limits.connectionsPerAddress || !this.#budget.take())
            return null;
        this.#count += 1;
        this.#byAddress.set(address, own + 1);
        return address;
    }
    /** Counts a closed connection. */
    release(address) {
        this.#count -= 1;
        this.#budget.release();
        const left = (this.#byAddress.get(address) ?? 1) - 1;
        if (left > 0)
            this.#byAddress.set(address, left);
        else
            this.#byAddress.delete(address);
    }
    /**
     * Counts a request until its response is closed. @returns `false` if too many requests of its connection are waiting
     */
    mayPipeline(socket, response) {
        let count = this.#waiting.get(socket);
        if (count === undefined)
            this.#waiting.set(socket, (count = { requests: 0 }));
        if (count.requests >= this.#limits.pipelined)
            return false;
        count.requests += 1;
        response.on("close", this.#onResponseClosed);
        return true;
    }
}
/** Sets a server's time limits, also for open connections. */
export function limitServer(server, limits) {
    server.headersTimeout = limits.headerTimeoutMs;
    server.requestTimeout = limits.requestTimeoutMs;
    server.keepAliveTimeout = limits.idleTimeoutMs;
}
//# sourceMappingURL=connection-limiter.js.map