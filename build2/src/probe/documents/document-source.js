import { isFresh, maxAgeMs } from "../../health/evidence/freshness.js";
import { identityMismatch } from "../../health/evidence/identity.js";
import { lockStatusAt } from "../../health/evidence/lock-status.js";
/** The most nodes in one round. Those that claim the lock are always among them, the others take turns. */
const roundMax = 32;
/**
 * Chooses the one node to request documents from while the leader is not disputed: the answering nodes, including the
 * leader, take turns. If none answers, seeds and nodes are tried in turn.
 * @param turn counts the requests, so that the next goes to another node
 * @returns `null` if there is no node, or while the only claimant reports failsafe: the DCS is known to be down
 */
export function chooseDocumentSource(context, seeds, turn) {
    if (isFailsafe(context))
        return null;
    const cluster = context.state();
    const answering = answeringNodes(context).flatMap(sourceOf);
    const candidates = answering.length > 0
        ? answering
        : [...seeds.flatMap((api) => sourceOfSeed(cluster, api)), ...cluster.nodes.flatMap(sourceOf)];
    return candidates[turn % candidates.length] ?? null;
}
/**
 * Chooses the nodes of one round: all that answer, and every node that claims the lock even if it does not answer,
 * because a dispute about a claim cannot be decided without the view of the claimant.
 * @param turn counts the rounds: if there are too many nodes, each round uses a different subset
 */
export function chooseRoundSources(context, turn) {
    if (isFailsafe(context))
        return [];
    const claims = currentClaims(context);
    const others = answeringNodes(context).filter((node) => !claims.includes(node));
    const otherMax = Math.max(0, roundMax - claims.length);
    const first = others.length > otherMax ? (turn * otherMax) % others.length : 0;
    return [
        ...claims.slice(0, roundMax),
        ...[...others.slice(first), ...others.slice(0, first)].slice(0, otherMax),
    ].flatMap(sourceOf);
}
/** Whether the only node that claims the lock reports failsafe mode. The flag of a replica is no evidence. */
function isFailsafe(context) {
    const [claim, ...others] = currentClaims(context);
    return claim?.report?.isFailsafe === true && others.length === 0;
}
function currentClaims({ state, policy, now }) {
    return lockStatusAt(state(), policy, now()).claims;
}
function answeringNodes({ state, policy, now }) {
    const cluster = state();
    const maxAge = maxAgeMs(cluster, policy);
    return cluster.nodes.filter((node) => node.node.api !== null &&
        !node.isDown &&
        node.failuresInRow === 0 &&
        isFresh(node, maxAge, now()) &&
        identityMismatch(cluster, node, policy) === null);
}
/**
 * A seed that is a known node gets that node's name, so that the node's own view is not counted as the view of a second
 * node (rule 2).
 */
function sourceOfSeed({ nodes }, api) {
    const known = nodes.find(({ node }) => node.api === api);
    return known === undefined ? [{ name: api, api }] : sourceOf(known);
}
/** Returns an empty list for a node without an API. */
function sourceOf({ node }) {
    return node.api === null ? [] : [{ name: node.name, api: node.api }];
}
//# sourceMappingURL=document-source.js.map