import { isServing, positionOf } from "./node.js";
/**
 * Lets WAL flow for one tick: primaries write, replicas receive from their upstream and replay.
 * @param bytes the amount a primary writes during the tick
 */
export function flow(world, bytes) {
    for (const node of world.nodes)
        if (node.role === "primary" && isServing(node))
            node.written += Math.round(bytes);
    for (const node of [...world.nodes, ...world.nodes])
        receive(world, node);
}
function receive(world, node) {
    if (node.role === "primary")
        return;
    node.isStreaming = isServing(node) && node.state === "running" && isConnected(world, node);
    if (!isServing(node))
        return;
    if (node.isStreaming && node.upstream !== null) {
        const source = world.node(node.upstream);
        node.timeline = source.timeline;
        node.received = Math.max(node.received, positionOf(source));
    }
    if (!node.isReplayPaused)
        node.replayed = Math.max(node.replayed, node.received);
}
function isConnected(world, node) {
    if (node.receiver !== "streaming" || node.upstream === null || node.upstream === node.name)
        return false;
    const source = world.node(node.upstream);
    if (!isServing(source) || source.timeline < node.timeline)
        return false;
    // A cascading replica whose own source is the asker would be a ring.
    if (source.role === "replica" && source.upstream === node.name)
        return false;
    return (positionOf(node) <= world.switchPoint(node.timeline, source.timeline) && positionOf(node) <= positionOf(source));
}
/**
 * The standbys in a node's sender list: those that stream, and frozen receivers until the sender drops them.
 */
export function listedAt(world, source, nowMs) {
    if (!isServing(source))
        return [];
    return world.nodes.filter((node) => {
        if (node === source || node.upstream !== source.name || node.role === "primary")
            return false;
        if (node.isStreaming)
            return true;
        return node.receiver === "frozen" && node.isUp && nowMs - node.receiverSinceMs < world.profile.senderTimeoutMs;
    });
}
/** Whether a node's WAL has diverged from the leader's history. */
export function hasDiverged(world, node) {
    return node.timeline < world.timeline && positionOf(node) > world.switchPoint(node.timeline, world.timeline);
}
//# sourceMappingURL=wal.js.map