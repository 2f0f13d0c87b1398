import { readTls } from "../../config/tls-material.js";
import { NodeClient } from "../../probe/client/client.js";
/** The maximum number of nodes in a comparison. It bounds the report if nodes keep joining under new names. */
const namesMax = 2_000;
/** The nodes that are compared. Follows the member lists. */
export class SamplerSet {
    #config;
    #samplers = new Map();
    /** The names of all nodes that have been compared. */
    #names = new Set();
    #tls = new Map();
    constructor(config) {
        this.#config = config;
    }
    get all() {
        return [...this.#samplers.values()];
    }
    /** The number of nodes so far, including those that have left. */
    get size() {
        return this.#names.size;
    }
    /**
     * Updates the nodes from the member lists. A cluster with an empty list keeps its nodes. No sample may be in
     * progress.
     */
    update(clusters) {
        for (const { cluster, nodes } of clusters) {
            if (nodes.length === 0)
                continue;
            // A node that is known only by its exporter has no API to compare with.
            const members = new Map(nodes.flatMap(({ node, api }) => (api === null ? [] : [[`${cluster}/${node}`, { node, api }]])));
            for (const [name, sampler] of this.#samplers) {
                if (sampler.cluster !== cluster || members.get(name)?.api === sampler.api)
                    continue;
                sampler.client.close();
                this.#samplers.delete(name);
            }
            for (const [name, { node, api }] of members)
                if (!this.#samplers.has(name))
                    this.#add(name, { cluster, node, api });
        }
    }
    close() {
        for (const { client } of this.#samplers.values())
            client.close();
    }
    #add(name, { cluster, node, api }) {
        if (this.#names.size >= namesMax && !this.#names.has(name))
            return;
        const { probe } = this.#config;
        const tls = this.#tlsOf(cluster);
        const base = `/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}`;
        const client = new NodeClient(api, { connectTimeoutMs: probe.connectTimeoutMs, timeoutMs: probe.timeoutMs }, tls);
        this.#samplers.set(name, { name, cluster, api, base, client });
        this.#names.add(name);
    }
    /** Reads TLS files once: a file that is missing for a moment days later must not end the comparison. */
    #tlsOf(cluster) {
        const known = this.#tls.get(cluster);
        if (known !== undefined)
            return known;
        const files = this.#config.clusters.find(({ name }) => name === cluster)?.tls ?? null;
        const tls = files === null ? null : readTls(files);
        this.#tls.set(cluster, tls);
        return tls;
    }
}
//# sourceMappingURL=sampler-set.js.map