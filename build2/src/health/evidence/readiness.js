import { isFresh, maxAgeMs } from "./freshness.js";
/** Whether no node of any cluster has fresh evidence: then the fault is likely rolecall's (rule 9). */
export function isBlindEverywhere(store, nowMs) {
    return store.current.clusters.every((cluster) => {
        const policy = store.policyOf(cluster.name);
        return policy === undefined || !cluster.nodes.some((node) => isFresh(node, maxAgeMs(cluster, policy), nowMs));
    });
}
//# sourceMappingURL=readiness.js.map