import { nodeNamed } from "../../cluster/lookup.js";
import { isFresh } from "./freshness.js";
import { hasPosition } from "./position.js";
/** Returns the leader if its report is fresh and has positions. Without one no time counts against a node (rule 5). */
export function freshLeader(view) {
    const { holder } = view.lock;
    const leader = nodeNamed(view.cluster, holder);
    if (leader === undefined || leader.report === null || !isFresh(leader, view.maxAgeMs, view.nowMs))
        return null;
    return hasPosition(leader.report) ? leader : null;
}
const following = new Set(["streaming", "catchup"]);
const streaming = new Set(["streaming"]);
/** Whether a chain of fresh sender lists leads from the leader to the node. Replicas may cascade. */
export function isInSenderChain(view, name) {
    return isReached(view, name, following);
}
/** The same with every sender of the chain in state streaming: a streaming node is on its sender's timeline. */
export function isListedStreaming(view, name) {
    return isReached(view, name, streaming);
}
function isReached(view, name, states) {
    const { holder } = view.lock;
    if (holder === null)
        return false;
    const reached = new Set([holder]);
    const open = [holder];
    for (let from = open.pop(); from !== undefined; from = open.pop()) {
        const upstream = nodeNamed(view.cluster, from);
        if (upstream === undefined || upstream.report === null || !isFresh(upstream, view.maxAgeMs, view.nowMs))
            continue;
        for (const sender of upstream.report.senders) {
            const downstream = nodeOfSender(view.cluster, sender);
            if (downstream === null || !states.has(sender.state ?? "") || reached.has(downstream))
                continue;
            if (downstream === name)
                return true;
            reached.add(downstream);
            open.push(downstream);
        }
    }
    return false;
}
/** Finds the node of a sender list's row: by name, unless the row has another known node's address. */
function nodeOfSender(cluster, { name, address }) {
    const named = cluster.nodes.find(({ node }) => node.member === name || node.name === name)?.node;
    if (named === undefined)
        return null;
    const isElsewhere = address !== null && named.database !== null && named.database.host !== address;
    return isElsewhere && cluster.nodes.some(({ node }) => node !== named && node.database?.host === address)
        ? null
        : named.name;
}
//# sourceMappingURL=sender-chain.js.map