import { lagTimeMsLeast } from "../../config/values/check-text.js";
import { NodeApi } from "./node-api.js";
/** Returns the scope of a listener: the cluster and node of its configuration, and the names of all clusters. */
export function scopeOf(listener, { clusters, hostSuffixes }) {
    return { ...listener, clusters: clusters.map(({ name }) => name), hostSuffixes };
}
/** Returns the handler of one listener with the node API. */
export function nodeHandler(listener, config, context) {
    const { ignoreParams, probe, fastPath } = config;
    const api = new NodeApi({
        scope: scopeOf(listener, config),
        rules: {
            ignoreParams,
            ignoresUnknown: listener.node !== null,
            defaults: listener.defaults,
            lagTimeMsLeast: lagTimeMsLeast(probe.intervalMs),
        },
        passes: listener.access.management,
        operatorPages: listener.operatorPages,
    }, context);
    const handler = (call) => api.handle(call);
    return Object.assign(handler, fastPath === false ? {} : { cached: api.cached(listener.access.limits.idleTimeoutMs) });
}
//# sourceMappingURL=node-handler.js.map