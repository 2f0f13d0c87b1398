/** A new replica at position zero, before its first loop. */
export function modelNode(name, host, generation) {
    return {
        name,
        host,
        generation,
        port: 0,
        isUp: true,
        isHalted: false,
        isManagerFrozen: false,
        role: "replica",
        state: "running",
        transition: null,
        timeline: 1,
        shownTimeline: 1,
        written: 0,
        received: 0,
        replayed: 0,
        upstream: null,
        receiver: "streaming",
        receiverSinceMs: 0,
        isStreaming: false,
        isReplayPaused: false,
        rewinds: true,
        leaseUntilMs: 0,
        hasView: true,
        seesLock: true,
        isFailsafe: false,
        dcsSeenMs: 0,
        nextLoopMs: 0,
        promoteAtMs: null,
        historyRows: 0,
    };
}
/** The last position of a node's WAL, whatever its role. */
export function positionOf(node) {
    return node.role === "primary" ? node.written : Math.max(node.received, node.replayed);
}
/** Whether PostgreSQL on the node is running and not frozen. */
export function isServing(node) {
    return node.isUp && !node.isHalted && (node.state === "running" || node.state === "stopping");
}
/** Whether the node's manager executes its loop. */
export function isManaging(node) {
    return node.isUp && !node.isHalted && !node.isManagerFrozen;
}
//# sourceMappingURL=node.js.map