/** Returns whether the node's process runs: neither killed nor frozen. */
export function isAwake(node) {
    return node.alive && node.frozenAtMs === undefined;
}
/**
 * Returns whether its API answers within the 2 s timeout of other nodes (seeds/node-api.md, "reachable via the API").
 */
export function isReachable(node) {
    return isAwake(node) && (node.api.kind === "none" || (node.api.kind === "slow" && node.api.ms < 2000));
}
/**
 * Returns whether the node is the source of the cluster's WAL: it takes writes, or receives them from another
 * cluster.
 */
export function isSource(node) {
    return isAwake(node) && node.state === "running" && (node.role === "primary" || node.role === "standby_leader");
}
//# sourceMappingURL=node.js.map