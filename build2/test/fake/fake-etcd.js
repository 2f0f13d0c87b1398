import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { listenUntilClosed } from "./listen.js";
/** etcd's JSON gateway, as far as a watch of one scope needs it, with faults that a test turns on. */
export class FakeEtcd {
    faults = {
        isHung: false,
        losesEvents: false,
        garbage: null,
        token: null,
        isCompacted: false,
        splits: false,
    };
    /** The paths that were called. */
    calls = [];
    clusterId = "1000";
    revision = 1;
    url = "";
    #keys = new Map();
    #watchers = new Set();
    #tokens = 0;
    #close = async () => { };
    /** @param tls the options of a server that speaks TLS */
    static async start(tls = null) {
        const etcd = new FakeEtcd();
        const handle = (request, response) => etcd.#take(request, response);
        const server = tls === null ? createServer(handle) : createTlsServer(tls, handle);
        const { port, close } = await listenUntilClosed(server);
        etcd.url = `${tls === null ? "http" : "https"}://127.0.0.1:${port}`;
        etcd.#close = close;
        return etcd;
    }
    get watchCount() {
        return this.#watchers.size;
    }
    put(key, value) {
        this.#keys.set(key, value);
        this.#announce({ kv: { key: encode(key), value: encode(value) } });
    }
    delete(key) {
        this.#keys.delete(key);
        this.#announce({ type: "DELETE", kv: { key: encode(key) } });
    }
    /** Sends a text to every watch, as it is. */
    say(text) {
        for (const { response } of this.#watchers)
            response.write(text);
    }
    /** Cuts every watch. */
    cut() {
        for (const { response } of this.#watchers)
            response.socket.destroy();
    }
    close() {
        return this.#close();
    }
    #take(request, response) {
        const chunks = [];
        request.on("data", (chunk) => chunks.push(chunk));
        request.on("end", () => {
            const path = request.url ?? "";
            this.calls.push(path);
            if (this.faults.isHung)
                return;
            const body = JSON.parse(Buffer.concat(chunks).toString());
            if (path === "/v3/auth/authenticate")
                return this.#authenticate(body, response);
            if (this.faults.token !== null && request.headers.authorization !== this.faults.token)
                return reply(response, 401, { error: "etcdserver: invalid auth token", code: 16 });
            if (path === "/v3/kv/range")
                this.#range(body, response);
            else if (path === "/v3/watch")
                this.#watch(body, response);
            else
                reply(response, 404, { message: "Not Found" });
        });
    }
    #authenticate({ password }, response) {
        if (password !== "secret")
            return reply(response, 400, { error: "authentication failed, invalid user ID", code: 3 });
        this.#tokens += 1;
        this.faults.token = `token.${this.#tokens}`;
        reply(response, 200, { token: this.faults.token });
    }
    #range({ key = "", range_end: end }, response) {
        if (this.faults.garbage !== null) {
            response.end(this.faults.garbage);
            return;
        }
        const [from, to] = [decode(key), end === undefined ? null : decode(end)];
        const found = [...this.#keys].filter(([name]) => (to === null ? name === from : name >= from && name < to));
        const kvs = found.map(([name, value]) => ({ key: encode(name), value: encode(value) }));
        reply(response, 200, { header: this.#header, ...(kvs.length === 0 ? {} : { kvs, count: String(kvs.length) }) });
    }
    #watch({ create_request: { start_revision: start } = {} }, response) {
        response.writeHead(200, { "Content-Type": "application/json" });
        this.#send(response, { header: this.#header, created: true });
        if (this.faults.isCompacted) {
            this.faults.isCompacted = false;
            const reason = "etcdserver: mvcc: required revision has been compacted";
            this.#send(response, { header: this.#header, canceled: true, compact_revision: "9", cancel_reason: reason });
            response.end();
            return;
        }
        const watcher = { response, startRevision: Number(start) };
        this.#watchers.add(watcher);
        response.on("close", () => this.#watchers.delete(watcher));
    }
    #announce(event) {
        this.revision += 1;
        if (this.faults.losesEvents)
            return;
        for (const { response, startRevision } of this.#watchers)
            if (startRevision <= this.revision)
                this.#send(response, { header: this.#header, events: [event] });
    }
    #send(response, result) {
        const line = `${JSON.stringify({ result })}\n`;
        if (!this.faults.splits) {
            response.write(line);
            return;
        }
        response.write(line.slice(0, 20));
        setImmediate(() => response.write(line.slice(20)));
    }
    get #header() {
        return { cluster_id: this.clusterId, member_id: "1", revision: String(this.revision), raft_term: "2" };
    }
}
function reply(response, status, body) {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(body));
}
function encode(text) {
    return Buffer.from(text).toString("base64");
}
function decode(text) {
    return Buffer.from(text, "base64").toString();
}
//# sourceMappingURL=fake-etcd.js.map