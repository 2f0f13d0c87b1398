import { renderedTimeout } from "../message/http1-serializer.js";
import { simpleHeadMax } from "../message/simple-request-parser.js";
import { RawTcpConnection } from "./raw-tcp-connection.js";
/**
 * A connection on the fast path: answers each chunk that is exactly one simple request, and falls back at the first
 * other chunk.
 */
export class FastConnection extends RawTcpConnection {
    /** The client address that the connection counts for. */
    address;
    /** The sweep of its last request, or of its start. */
    lastSweep;
    hasRequested = false;
    #host;
    constructor(handle, address, host) {
        super(handle, host.io);
        this.#host = host;
        this.address = address;
        this.lastSweep = host.sweep;
    }
    /** Closes the connection because it was idle, with a 408 if it has not sent a request, as node:http does. */
    expire() {
        try {
            if (!this.hasRequested)
                this.write(renderedTimeout);
            this.close();
        }
        catch (error) {
            this.fail(error);
        }
    }
    read(buffer, length) {
        const isTooLong = length > simpleHeadMax;
        const response = isTooLong ? null : this.#find(buffer.toString("latin1", 0, length));
        if (response === null) {
            this.#fallBack(isTooLong ? "too_long" : "not_cached", Buffer.from(buffer.subarray(0, length)));
            return;
        }
        this.#host.monitor.countRequest();
        this.lastSweep = this.#host.sweep;
        this.hasRequested = true;
        if (response.keepsConnection)
            this.#respond(response.bytes);
        else
            this.end(response.bytes);
    }
    onClosed() {
        this.#host.onClosed(this);
    }
    failed(error) {
        this.#host.onError(error);
    }
    /** A look-up that throws costs no request: node:http gets it. */
    #find(text) {
        try {
            return this.#host.cached()?.find(text) ?? null;
        }
        catch (error) {
            this.#host.onError(error);
            return null;
        }
    }
    #respond(bytes) {
        const result = this.write(bytes);
        if (result === "sent")
            this.enableKeepAlive();
        else if (result === "lost")
            this.close();
        else
            this.#fallBack("slow_reader", null); // node:http stops reading until its peer reads
    }
    #fallBack(reason, unread) {
        const { monitor } = this.#host;
        monitor.countFallback(monitor.isTripped ? "tripped" : reason);
        this.#host.fallBack(this, unread);
    }
}
//# sourceMappingURL=fast-connection.js.map