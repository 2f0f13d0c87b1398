import { lagSamplesMax } from "../table/columns.js";
/** The recent lags of all nodes, for a sparkline of each. */
export class LagSamples {
    #samples = new Map();
    /** Adds the lag of each node. Forgets the nodes that are gone. */
    add(clusters) {
        const next = new Map();
        for (const { cluster, nodes } of clusters) {
            for (const { node, lag_bytes: lag } of nodes) {
                const key = `${cluster}/${node}`;
                next.set(key, [...(this.#samples.get(key) ?? []), lag].slice(-lagSamplesMax));
            }
        }
        this.#samples = next;
    }
    /** The lags of a node in bytes, oldest first; `null` where the lag was unknown. */
    of(cluster, node) {
        return this.#samples.get(`${cluster}/${node}`) ?? [];
    }
}
//# sourceMappingURL=lag-samples.js.map