/** Returns the node's drain unless it has expired, else `null`. @param nowMs in ms of rolecall's clock */
export function drainOf(cluster, node, nowMs) {
    const drain = cluster.drains.get(node);
    return drain !== undefined && nowMs < drain.untilMs ? drain : null;
}
//# sourceMappingURL=active-drain.js.map