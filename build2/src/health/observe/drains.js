/**
 * Begins a node's drain, or ends it with `null`. Expired drains of other nodes are removed, so that they cannot
 * accumulate.
 */
export function withDrains(cluster, node, change) {
    const drains = new Map([...cluster.drains].filter(([name, { untilMs }]) => name !== node && untilMs > change.nowMs));
    if (change.drain !== null)
        drains.set(node, change.drain);
    return { ...cluster, drains };
}
//# sourceMappingURL=drains.js.map