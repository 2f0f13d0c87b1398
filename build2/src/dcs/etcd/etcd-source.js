import { nameOf } from "../../cluster/values/json.js";
import { EtcdClient, statusText } from "./etcd-client.js";
import { anyKeyRange, keyRange, parseRange, scopeKeys } from "./etcd-messages.js";
import { EtcdWatch } from "./etcd-watch.js";
/** The keys of one Patroni cluster in etcd v3. The members are tried in turn. */
export class EtcdSource {
    #keys;
    #clients;
    #timeoutMs;
    #at = 0;
    /** @param timeoutMs the deadline of each request */
    constructor({ endpoints, prefix, scope }, access, timeoutMs) {
        this.#keys = scopeKeys(prefix, scope);
        this.#timeoutMs = timeoutMs;
        this.#clients = endpoints.map((endpoint) => new EtcdClient(endpoint, access, timeoutMs));
    }
    get serverCount() {
        return this.#clients.length;
    }
    async read() {
        const result = await this.#readLeader();
        if ("failure" in result)
            this.#at = (this.#at + 1) % this.#clients.length;
        return result;
    }
    watch(afterRevision, onChange) {
        const { folder } = this.#keys;
        return new EtcdWatch(this.#client, { folder, afterRevision, timeoutMs: this.#timeoutMs, onChange });
    }
    close() {
        for (const client of this.#clients)
            client.close();
    }
    get #client() {
        const client = this.#clients[this.#at];
        if (client === undefined)
            throw new Error("Cannot call etcd: there must be at least one address");
        return client;
    }
    async #readLeader() {
        const range = await this.#range(keyRange(this.#keys.leader));
        if ("failure" in range)
            return range;
        const { clusterId, revision, values } = range.reply;
        const [value] = values;
        const leader = value === undefined ? null : nameOf(value, 128);
        if (value !== undefined && (leader === null || leader === ""))
            return unreadable(`${this.#keys.leader} must be a member's name, got something else`);
        const any = value === undefined ? await this.#range(anyKeyRange(this.#keys.folder)) : range;
        if ("failure" in any)
            return any;
        const hasScope = any.reply.values.length > 0;
        return { read: { leader, source: `etcd ${clusterId} ${this.#keys.leader}`, revision, hasScope } };
    }
    async #range(request) {
        const reply = await this.#client.call("/v3/kv/range", request);
        if ("failure" in reply)
            return reply;
        if (reply.status !== 200)
            return { failure: { kind: "status", detail: `etcd answers ${statusText(reply)}` } };
        const range = parseRange(reply.body);
        return range === null
            ? unreadable("the response must be of etcd's range call, got something else")
            : { reply: range };
    }
}
function unreadable(detail) {
    return { failure: { kind: "body", detail } };
}
//# sourceMappingURL=etcd-source.js.map