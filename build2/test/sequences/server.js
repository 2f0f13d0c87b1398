import { createServer } from "node:http";
import { portOf } from "../fake/listen.js";
/**
 * One server of a world. It has an address of its own, so that others can list it as a standby. The system chooses its
 * port.
 */
export class WorldServer {
    #world;
    #name;
    #address;
    #now;
    #timers = new Set();
    #server = null;
    #port = 0;
    constructor(world, name, { address, now }) {
        this.#world = world;
        this.#name = name;
        this.#address = address;
        this.#now = now;
    }
    /** Listens, or not, according to its conduct. */
    async settle() {
        const isUp = this.#world.conductOf(this.#name).api !== "refused";
        if (isUp && this.#server === null)
            await this.open();
        if (!isUp && this.#server !== null)
            await this.close();
    }
    async open() {
        const server = createServer((request, response) => this.#hear(request, response));
        this.#server = server;
        await new Promise((resolve) => void server.listen(this.#port, this.#address, resolve));
        this.#port = portOf(server);
        this.#world.addresses.set(this.#name, `http://${this.#address}:${this.#port}`);
    }
    async close() {
        const server = this.#server;
        this.#server = null;
        for (const timer of this.#timers)
            clearTimeout(timer);
        this.#timers.clear();
        if (server === null)
            return;
        await new Promise((resolve) => {
            server.close(() => resolve());
            server.closeAllConnections();
        });
    }
    #hear(request, response) {
        const path = request.url ?? "";
        const { api, delay, viewDelay } = this.#world.conductOf(this.#name);
        if (api === "hang")
            return;
        const seconds = (delay ?? 0) + (path === "/cluster" ? (viewDelay ?? 0) : 0);
        if (seconds === 0)
            return this.#reply(path, response);
        const timer = setTimeout(() => {
            this.#timers.delete(timer);
            this.#reply(path, response);
        }, seconds * 1000);
        this.#timers.add(timer);
    }
    #reply(path, response) {
        const answer = this.#world.answer(this.#name, path, this.#now());
        if (answer === undefined)
            return;
        const [status, document] = answer;
        response.shouldKeepAlive = false;
        response.writeHead(status).end(document === undefined ? "" : JSON.stringify(document));
        // A document may have been its last.
        if (path === "/cluster")
            response.once("finish", () => void this.settle());
    }
}
//# sourceMappingURL=server.js.map