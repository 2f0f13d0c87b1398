/** Connections to databases of 127.0.0.1: for one statement, or for many. Nothing here throws or waits for ever. */
import { connect } from "node:net";
import { startup, terminate, WireReader } from "./wire.js";
/**
 * Sends one statement on a new connection, start and end of the session in the same piece: the cheapest way.
 * @param port the database's, or that of a balancer's pool
 * @param statement the message that `query` of wire.ts makes
 */
export function once(port, statement, deadlineMs) {
    const startedAt = performance.now();
    return new Promise((resolve) => {
        const socket = connect({ host: "127.0.0.1", port });
        const reader = new WireReader();
        const finish = (row, failure) => {
            clearTimeout(deadline);
            socket.destroy();
            resolve({ startedAt, endedAt: performance.now(), row, failure }); // no effect if it was resolved before
        };
        const deadline = setTimeout(() => finish(undefined, "late"), deadlineMs);
        socket.on("error", () => { }); // "close" follows
        socket.on("close", () => finish(undefined, "closed"));
        socket.on("data", (piece) => {
            const reading = read(reader, piece);
            if (reading.error !== undefined)
                finish(undefined, reading.error);
            else if (reading.completed > 0)
                finish(reading.row, undefined);
        });
        socket.write(Buffer.concat([startup, statement, terminate]));
    });
}
/** A connection for many statements, one at a time. */
export class Session {
    #socket;
    #reader = new WireReader();
    #answer;
    #closedAt;
    constructor(port) {
        this.#socket = connect({ host: "127.0.0.1", port, noDelay: true });
        this.#socket.on("error", () => { }); // "close" follows
        this.#socket.on("close", () => {
            this.#closedAt ??= performance.now();
            this.#settle({ row: undefined, failure: "closed" });
        });
        this.#socket.on("data", (piece) => this.#read(piece));
        this.#socket.write(startup);
    }
    /** Opens one. `undefined` if no server accepts it within the deadline. */
    static async open(port, deadlineMs) {
        const session = new Session(port);
        const { failure } = await session.#reply(deadlineMs);
        if (failure === undefined)
            return session;
        session.close();
        return undefined;
    }
    /** When it was closed by the other side; `undefined` while it is open. */
    get closedAt() {
        return this.#closedAt;
    }
    /** Sends a statement and waits for its outcome. A late answer closes the session. */
    async ask(statement, deadlineMs) {
        const startedAt = performance.now();
        this.#reader.clear();
        if (this.#closedAt === undefined)
            this.#socket.write(statement);
        const { row, failure } = await this.#reply(deadlineMs);
        return { startedAt, endedAt: performance.now(), row, failure };
    }
    close() {
        this.#closedAt ??= performance.now();
        this.#socket.destroy();
    }
    #reply(deadlineMs) {
        if (this.#closedAt !== undefined)
            return Promise.resolve({ row: undefined, failure: "closed" });
        return new Promise((resolve) => {
            const deadline = setTimeout(() => {
                this.#settle({ row: undefined, failure: "late" });
                this.close();
            }, deadlineMs);
            this.#answer = (outcome) => {
                clearTimeout(deadline);
                resolve(outcome);
            };
        });
    }
    #settle(outcome) {
        this.#answer?.(outcome);
        this.#answer = undefined;
    }
    #read(piece) {
        const { error, isIdle, row } = read(this.#reader, piece);
        if (isIdle)
            this.#settle(error === undefined ? { row, failure: undefined } : { row: undefined, failure: error });
    }
}
/** What is not of the protocol counts as an error of the server. */
function read(reader, piece) {
    try {
        return reader.push(piece);
    }
    catch {
        return { row: [], error: "protocol", completed: 0, isIdle: false };
    }
}
//# sourceMappingURL=connections.js.map