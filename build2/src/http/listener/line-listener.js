import { createServer } from "node:net";
import { unmapped } from "../../config/values/cidr.js";
import { ConnectionLimiter } from "../access/connection-limiter.js";
import { allowlistOf } from "../access/ip-allowlist.js";
import { bareSocket, listenOn } from "./bind-target.js";
/** The longest line in bytes. */
const lineMax = 1_024;
/** How long a client may wait before it is answered without a line, in ms: some clients send none. */
const silenceMs = 50;
/**
 * A TCP server that reads one line of each connection, answers it with one line and closes the connection. A client
 * that sends no line, half a line or too long a one gets no answer.
 */
export class LineListener {
    #events;
    #limiter;
    #server;
    #open = new Set();
    #handler;
    #access;
    #isAllowed;
    constructor(handler, access, events) {
        this.#handler = handler;
        this.#access = access;
        this.#events = events;
        this.#isAllowed = allowedBy(access);
        this.#limiter = new ConnectionLimiter(access.limits, (address) => events.onRejected({ address, status: null, request: null }));
        this.#server = createServer({ noDelay: true }, (socket) => this.#onConnection(socket));
    }
    open(target) {
        return listenOn(this.#server, target);
    }
    get socket() {
        return bareSocket(this.#server);
    }
    get boundAddress() {
        const address = this.#server.address();
        return typeof address === "object" && address !== null ? address.address : null;
    }
    /** Answers by another handler from now on. Connections stay. */
    handleBy(handler) {
        this.#handler = handler;
    }
    prepare(access) {
        const isAllowed = allowedBy(access);
        return () => {
            this.#access = access;
            this.#isAllowed = isAllowed;
            this.#limiter.limitTo(access.limits);
        };
    }
    async close(graceMs) {
        if (!this.#server.listening)
            return;
        const closed = new Promise((resolve) => {
            this.#server.close(() => resolve());
        });
        const timer = setTimeout(() => {
            for (const socket of this.#open)
                socket.destroy();
        }, graceMs);
        await closed;
        clearTimeout(timer);
    }
    /** Node calls this. What it throws would end the process, so it costs the connection instead. */
    #onConnection(socket) {
        socket.on("error", () => { }); // clients reset the connection once they have the answer
        try {
            this.#limiter.onConnection(socket);
            if (socket.destroyed)
                return;
            const peer = unmapped(socket.remoteAddress ?? "");
            if (this.#isAllowed(peer))
                this.#converse(socket, peer);
            else
                this.#reject(socket, peer);
        }
        catch (error) {
            this.#events.onError(error, null);
            socket.destroy();
        }
    }
    #converse(socket, peer) {
        const conversation = {
            socket,
            peer,
            received: "",
            isAnswered: false,
            // The whole connection has this time, so a client that sends a byte at a time gains nothing.
            deadline: setTimeout(() => this.#expire(conversation), this.#access.limits.headerTimeoutMs),
            silence: setTimeout(() => this.#answer(conversation, null), silenceMs),
        };
        this.#open.add(socket);
        socket.on("data", (chunk) => this.#read(conversation, chunk));
        socket.once("end", () => this.#expire(conversation));
        socket.once("close", () => {
            clearTimeout(conversation.deadline);
            clearTimeout(conversation.silence);
            this.#open.delete(socket);
        });
    }
    #read(conversation, chunk) {
        if (conversation.isAnswered)
            return; // only the first line counts
        clearTimeout(conversation.silence);
        conversation.received += chunk.toString("utf8", 0, lineMax + 1);
        const end = conversation.received.search(/[\r\n]/);
        if (end >= 0 && end <= lineMax)
            this.#answer(conversation, conversation.received.slice(0, end));
        else if (conversation.received.length > lineMax)
            this.#expire(conversation);
    }
    #answer(conversation, line) {
        const { socket, peer } = conversation;
        try {
            const answer = this.#handler(line, peer);
            if (answer === null)
                return;
            conversation.isAnswered = true;
            socket.end(`${answer}\n`);
        }
        catch (error) {
            conversation.isAnswered = true;
            this.#events.onError(error, null);
            socket.destroy();
        }
    }
    /** Ends a connection that will not send a line any more, or that the client has not closed after its answer. */
    #expire({ socket, peer, isAnswered }) {
        if (isAnswered)
            socket.destroySoon();
        else
            this.#reject(socket, peer);
    }
    #reject(socket, address) {
        this.#events.onRejected({ address, status: null, request: null });
        socket.destroy();
    }
}
/** Nothing that a line asks for changes anything, so a list for calls that do restricts nobody. */
function allowedBy({ allow, allowFor }) {
    return allow === null || allowFor === "unsafe" ? () => true : allowlistOf(allow);
}
//# sourceMappingURL=line-listener.js.map