import { lockHolderOf } from "../../cluster/leadership.js";
import { nodeNamed } from "../../cluster/lookup.js";
import { isMisaddressed } from "./identity.js";
/** Returns the addresses of a list by member name. Of two rows with one name the first counts. */
export function addressesOf(members) {
    const addresses = new Map();
    for (const { name, api } of members)
        if (!addresses.has(name))
            addresses.set(name, api);
    return addresses;
}
/** Determines what a list may change, by the cluster's state before the list. */
export function authorityOf(cluster, list, { fall }) {
    const source = nodeNamed(cluster, list.source);
    const answers = source !== undefined && source.report !== null && !isLost(source, fall);
    return { isOfHolder: isOfHolder(cluster, list), ownOf: answers ? source.node.name : null, fall };
}
/** Whether the list is the node's own document. */
export function isOwnDocument(node, { ownOf }) {
    return node.name === ownOf;
}
/**
 * Whether the node failed `fall` times in a row, or another member answers at its address: then it may lose the
 * address.
 */
export function isLost({ node, report, failuresInRow }, fall) {
    return failuresInRow >= fall || (report !== null && isMisaddressed(node, report));
}
/**
 * Whether the document names the holder. A restored clone has members of the same names, so the holder's address must
 * match too, which is known for a discovered node that answers. A fixed node may be probed at another address than it
 * advertises.
 */
function isOfHolder(cluster, { members, leader }) {
    const lockHolder = lockHolderOf(cluster.leadership);
    if (lockHolder === null)
        return true;
    const holder = nodeNamed(cluster, lockHolder)?.node;
    const row = members.find(({ name }) => name === leader);
    if (holder === undefined || row === undefined)
        return false;
    if (row.api === holder.api)
        return true;
    return holder.isFixed && (row.name === holder.member || row.name === holder.name);
}
//# sourceMappingURL=member-authority.js.map