import { createServer, STATUS_CODES } from "node:http";
import { readRequest } from "./request.js";
import { garbage } from "./garbage.js";
/** The most requests that one node holds while it hangs, is frozen or slow. A further one is disconnected. */
const heldMax = 1000;
/** The HTTP server of one node. It can be closed and opened again on the same port, as the node dies and revives. */
export class NodeServer {
    #options;
    #held = new Set();
    #sockets = new Set();
    #controlSockets = new Set();
    #delays = new Set();
    #server;
    #port = 0;
    constructor(options) {
        this.#options = options;
    }
    /** The port, also while the server is closed. */
    get port() {
        return this.#port;
    }
    /**
     * Starts listening: the first time on `port` (0: any free one), later on the same port again. Rejects if it is
     * taken.
     */
    async open(port) {
        if (this.#server !== undefined)
            return;
        const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 30_000 }, (request, response) => {
            // A client may disconnect at any time. There is no one left to answer.
            this.#serve(request, response).catch(() => response.destroy());
        });
        server.on("connection", (socket) => {
            this.#sockets.add(socket);
            socket.once("close", () => this.#sockets.delete(socket));
        });
        this.#server = server;
        try {
            await new Promise((resolve, reject) => {
                server.once("error", reject);
                server.listen({ host: this.#options.host, port: this.#port === 0 ? port : this.#port }, resolve);
            });
        }
        catch (error) {
            this.#server = undefined;
            throw error;
        }
        const address = server.address();
        if (typeof address === "object" && address !== null)
            this.#port = address.port;
    }
    /**
     * Refuses connections and resets the open ones, except those with a request to `/sim` in progress: it may be the
     * cause.
     */
    halt() {
        this.#server?.close();
        this.#server = undefined;
        for (const delay of this.#delays)
            clearTimeout(delay);
        this.#delays.clear();
        this.#held.clear();
        for (const socket of this.#sockets) {
            if (this.#controlSockets.has(socket))
                continue;
            // libuv rejects the reset of a socket that is shutting down, and Node would then wait forever for it to close
            // at exit.
            if (socket.writableEnded)
                socket.destroy();
            else
                socket.resetAndDestroy();
        }
    }
    /** Closes the server. Resolves when the port is closed. */
    async close() {
        const server = this.#server;
        const closed = new Promise((resolve) => {
            if (server === undefined)
                resolve();
            else
                server.once("close", resolve);
        });
        this.halt();
        for (const socket of this.#sockets)
            socket.destroy();
        await closed;
    }
    /** Answers the requests held while the node hung or was frozen. */
    release() {
        const held = [...this.#held];
        this.#held.clear();
        for (const answer of held)
            answer();
    }
    async #serve(request, response) {
        const parsed = await readRequest(request);
        if (parsed.head === "sim") {
            await this.#serveControl(request.socket, response, parsed);
            return;
        }
        await this.#delay(request);
        const fault = this.#options.fault();
        if (fault.kind === "garbage")
            garbage(fault.style, response);
        else
            this.#write(response, await this.#options.answer(parsed), parsed.method);
    }
    async #serveControl(socket, response, request) {
        this.#controlSockets.add(socket);
        try {
            this.#write(response, await this.#options.answer(request), request.method);
        }
        finally {
            this.#controlSockets.delete(socket);
        }
        if (this.#server === undefined)
            socket.destroySoon();
    }
    #write(response, answer, method) {
        if (this.#options.keepAlive)
            writeKeepAlive(response, answer, method === "HEAD");
        else
            writeAndClose(response, answer);
    }
    /** Waits as long as the node's fault delays a response. */
    async #delay(request) {
        const fault = this.#options.fault();
        this.#checkLimit();
        if (fault.kind === "slow") {
            await new Promise((resolve) => {
                const delay = setTimeout(() => {
                    this.#delays.delete(delay);
                    resolve();
                }, fault.ms);
                this.#delays.add(delay);
            });
        }
        while (this.#options.fault().kind === "hang") {
            this.#checkLimit();
            await new Promise((resolve) => {
                this.#held.add(resolve);
                request.socket.once("close", () => {
                    this.#held.delete(resolve);
                });
            });
        }
    }
    /** Throws if no further request may wait. */
    #checkLimit() {
        const waiting = this.#held.size + this.#delays.size;
        if (waiting >= heldMax)
            throw new Error(`Cannot hold a request: at most ${String(heldMax)} may wait, got ${String(waiting)}`);
    }
}
/** Writes a response as real nodes do: HTTP/1.0, a bare one without headers, and closes the connection. */
function writeAndClose(response, answer) {
    const line = `HTTP/1.0 ${String(answer.status)} ${STATUS_CODES[answer.status] ?? ""}\r\n`;
    const headers = `Server: BaseHTTP/0.6 Python/3.11.2\r\nDate: ${new Date().toUTCString()}\r\n`;
    const rest = answer.kind === "bare" ? "\r\n" : `${headers}Content-Type: ${answer.contentType}\r\n\r\n${answer.body}`;
    response.socket?.write(line + rest);
    response.socket?.destroySoon();
}
function writeKeepAlive(response, answer, isHead) {
    if (answer.kind === "bare") {
        response.writeHead(answer.status, { "Content-Length": 0 }).end();
        return;
    }
    response.writeHead(answer.status, {
        "Content-Type": answer.contentType,
        "Content-Length": Buffer.byteLength(answer.body),
    });
    response.end(isHead ? undefined : answer.body);
}
//# sourceMappingURL=server.js.map