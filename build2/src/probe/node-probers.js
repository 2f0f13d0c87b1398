import { ExporterProber } from "./exporter-prober.js";
import { NodeProber } from "./node-prober.js";
/** All probers of one node: one for its API and one for its exporter, where it has them. */
export class NodeProbers {
    #node;
    #api;
    #exporter;
    constructor(node, context) {
        this.#node = node;
        this.#api = node.api === null ? null : new NodeProber(node, node.api, context);
        this.#exporter = node.exporter === null ? null : new ExporterProber(node, node.exporter, context);
    }
    /** Whether these probers are right for the node: its addresses are the ones they probe. */
    matches(node) {
        return node !== undefined && node.api === this.#node.api && node.exporter === this.#node.exporter;
    }
    /** Resolves when the probes in flight have ended. */
    get inFlight() {
        return Promise.all([this.#api?.inFlight, this.#exporter?.inFlight]);
    }
    /** Probes the API and the exporter now. Continues at the scheduled intervals. */
    probe() {
        this.#api?.probe();
        this.#exporter?.probe();
    }
    /**
     * Probes for the role now, unless such a probe is in flight: through the API, or through the exporter of a node
     * without an API.
     * @returns whether it probes
     */
    probeIfIdle() {
        return (this.#api ?? this.#exporter)?.probeIfIdle() ?? false;
    }
    /** Applies new TLS material: the next probes open new connections. */
    reconnect() {
        this.#api?.reconnect();
        this.#exporter?.reconnect();
    }
    /** Ends probing. The results of probes in flight are discarded. */
    stop() {
        this.#api?.stop();
        this.#exporter?.stop();
    }
}
//# sourceMappingURL=node-probers.js.map