import { nodeNamed } from "../../cluster/lookup.js";
import { identityMismatch } from "./identity.js";
import { addressesOf, isLost } from "./member-authority.js";
import { isIdentified } from "./leader-views.js";
/**
 * Collects the lists that vote with a new one: the newest of each answering witness, unless it is too old (rule 10).
 */
export function votesAt(cluster, list, { isOfHolder, policy }) {
    const { source, sentAtMs: atMs } = list;
    const lists = new Map();
    for (const [witness, { addresses, sentAtMs }] of cluster.leaderViews) {
        const isReplaced = witness === source && sentAtMs <= atMs;
        if (!isReplaced && atMs - sentAtMs < policy.viewMaxAgeMs && isWitness(cluster, witness, policy))
            lists.set(witness, addresses);
    }
    const isOfWitness = isWitness(cluster, source, policy);
    if (isOfWitness && !lists.has(source))
        lists.set(source, addressesOf(list.members));
    return { lists, isExtra: isOfHolder && !isOfWitness, isOfHolder, fall: policy.fall };
}
/**
 * Whether a node takes the address that the new list gives it: more lists must give it this address than any other, its
 * present one included. A node that answers counts as a vote for its present address, unless its own list gives
 * another. A single list moves a failed node only if it names the holder. The list of a non-witness never moves a node
 * that answers.
 */
export function isVotedTo(votes, known, api) {
    const { node } = known;
    const counts = new Map();
    const vote = (address) => void (address !== null && counts.set(address, (counts.get(address) ?? 0) + 1));
    const givenBy = (list) => list?.get(node.member) ?? list?.get(node.name) ?? null;
    for (const list of votes.lists.values())
        vote(givenBy(list));
    const isGone = isLost(known, votes.fall);
    const own = givenBy(votes.lists.get(node.name));
    if (!isGone && own === null)
        vote(node.api);
    if (isGone && votes.isExtra)
        vote(api);
    const most = counts.get(api) ?? 0;
    const isMost = most > 0 && [...counts].every(([address, number]) => address === api || number < most);
    return isMost && (most > 1 || own === api || (isGone && votes.isOfHolder));
}
/** Whether the node answers at its address, under its own name and for this cluster. */
function isWitness(cluster, name, policy) {
    const source = nodeNamed(cluster, name);
    if (source === undefined || source.report === null || isLost(source, policy.fall))
        return false;
    return isIdentified(cluster, name, policy) && identityMismatch(cluster, source, policy) === null;
}
//# sourceMappingURL=address-votes.js.map