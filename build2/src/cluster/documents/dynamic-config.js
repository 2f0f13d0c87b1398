import { countOf, isObject } from "../values/json.js";
/**
 * Parses a dynamic configuration, with Patroni's defaults for missing settings. Returns `undefined` if it is no object.
 */
export function parseDynamicConfig(value) {
    if (!isObject(value))
        return undefined;
    return {
        ttlMs: seconds(value["ttl"], 30),
        loopWaitMs: seconds(value["loop_wait"], 10),
        retryTimeoutMs: seconds(value["retry_timeout"], 10),
        lagMaxOnFailover: countOf(value["maximum_lag_on_failover"]) ?? 1_048_576,
        isStandbyCluster: isObject(value["standby_cluster"]),
    };
}
function seconds(value, otherwise) {
    return (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : otherwise) * 1000;
}
//# sourceMappingURL=dynamic-config.js.map