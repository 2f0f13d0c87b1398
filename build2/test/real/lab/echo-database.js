/**
 * Servers that stand for databases behind a load balancer: each sends its name and then echoes every byte. A load
 * balancer sees of a database no more than that.
 */
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { portOf } from "../../fake/listen.js";
export class EchoDatabase {
    name;
    #server;
    #sockets = new Set();
    /** Starts one on a free port of 127.0.0.1. */
    static async start(name) {
        const database = new EchoDatabase(name);
        await new Promise((resolve) => void database.#server.listen(0, "127.0.0.1", resolve));
        return database;
    }
    constructor(name) {
        this.name = name;
        this.#server = createServer((socket) => {
            this.#sockets.add(socket);
            socket.on("close", () => this.#sockets.delete(socket));
            socket.on("error", () => { }); // "close" follows
            socket.write(`${name}\n`);
            socket.pipe(socket);
        });
    }
    get port() {
        return portOf(this.#server);
    }
    async stop() {
        for (const socket of this.#sockets)
            socket.destroy();
        await new Promise((resolve) => this.#server.close(resolve));
    }
}
/** A session through a load balancer. It is in use all the time: a byte is sent every 50 ms, and echoed. */
export class EchoSession {
    /** The database that it reached. */
    database;
    #socket;
    #isCut = false;
    /** Opens a session. @returns `undefined` if it reaches no database within 2 s */
    static async open(port) {
        const socket = connect(port, "127.0.0.1");
        const database = await new Promise((resolve) => {
            socket.setTimeout(2000, () => socket.destroy());
            socket.once("data", (bytes) => resolve(bytes.toString().trim()));
            socket.on("close", () => resolve(undefined));
            socket.on("error", () => { }); // "close" follows
        });
        return database === undefined ? undefined : new EchoSession(socket, database);
    }
    constructor(socket, database) {
        this.#socket = socket;
        this.database = database;
        socket.resume();
        const pulse = setInterval(() => socket.write("."), 50);
        socket.on("close", () => {
            this.#isCut = true;
            clearInterval(pulse);
        });
    }
    /** Whether its connection has ended. */
    get isCut() {
        return this.#isCut;
    }
    close() {
        this.#socket.destroy();
    }
}
/** Opens one new session after the other until the signal. @returns the database that each reached, in order */
export async function landings(port, signal) {
    const landed = [];
    for (; !signal.aborted; await sleep(50)) {
        const session = await EchoSession.open(port);
        landed.push(session?.database);
        session?.close();
    }
    return landed;
}
//# sourceMappingURL=echo-database.js.map