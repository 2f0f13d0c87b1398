import { lastUncontestedLeaderOf, lockHolderOf, } from "../../cluster/leadership.js";
import { countsUntilMs, eligibleClaims, isBelievableClaim, upstreamOfStandbys, upstreamUntilMs, } from "./exporter-claims.js";
import { isWithdrawn, withdrawalsByNode } from "./dcs-withdrawals.js";
import { isFresh, maxAgeMs } from "./freshness.js";
import { isMisaddressed, isOutOfScope } from "./identity.js";
import { resolveLeadership } from "./leadership.js";
import { validViews, isConfirmed, isIdentified } from "./leader-views.js";
const nothingLost = new Map();
/**
 * Applies rule 2 to a cluster's state. Claims of nodes without an API (known through their exporters) compete only
 * among themselves: there the standbys decide.
 * @param nowMs the instant of recording, in ms of rolecall's clock
 * @returns `decision` and `lostClaims` are the state's own objects if unchanged
 */
export function settleLock(cluster, policy, nowMs) {
    const { leadership } = cluster;
    if (cluster.lockClaims.length === 0) {
        const decision = leadership.decision.kind === "unclaimed"
            ? leadership.decision
            : { kind: "unclaimed", lastHolder: lastUncontestedLeaderOf(leadership) };
        const lostClaims = leadership.lostClaims.size === 0 ? leadership.lostClaims : nothingLost;
        return { holder: null, claims: [], isContested: false, validUntilMs: Infinity, decision, lostClaims };
    }
    const claims = freshClaims(cluster, policy, nowMs);
    const validUntilMs = claimsUntilMs(cluster, claims, { policy, nowMs });
    const counting = eligibleClaims(claims);
    const sole = unopposed(cluster, counting, { policy, nowMs });
    if (sole !== null) {
        const { lostClaims } = leadership;
        return { holder: sole.holder, claims, isContested: false, validUntilMs, decision: sole, lostClaims };
    }
    const resolved = resolveLeadership(inputsOf(cluster, counting, { policy, nowMs }));
    const lostClaims = hasSameLosses(leadership.lostClaims, resolved.lostClaims)
        ? leadership.lostClaims
        : resolved.lostClaims;
    const decision = byReceivers(cluster, { claims, counting, lostClaims }, { policy, nowMs }) ?? resolved.decision;
    return {
        holder: decision.kind === "held" ? decision.holder : null,
        claims,
        isContested: decision.kind === "contested",
        validUntilMs,
        decision: isSameDecision(leadership.decision, decision) ? leadership.decision : decision,
        lostClaims,
    };
}
/**
 * Returns who holds the lock at an instant after the last outcome. Time alone only takes the lock away: a holder loses
 * it once its claim is too old, but no contestant gets it because the other's claim grew old.
 */
export function lockStatusAt(cluster, policy, nowMs) {
    if (cluster.lockClaims.length === 0)
        return { holder: null, claims: [], isContested: false, validUntilMs: Infinity };
    const claims = freshClaims(cluster, policy, nowMs);
    const validUntilMs = claimsUntilMs(cluster, claims, { policy, nowMs });
    const lockHolder = lockHolderOf(cluster.leadership);
    const holder = claims.find(({ node }) => node.name === lockHolder);
    if (holder !== undefined && (holder.node.api !== null || isStillReceivedFrom(cluster, claims, { policy, nowMs })))
        return { holder: holder.node.name, claims, isContested: false, validUntilMs };
    const open = claims.filter(({ node }) => !cluster.leadership.lostClaims.has(node.name));
    return { holder: null, claims, isContested: open.length > 1, validUntilMs };
}
/** Whether several nodes claim the lock, or the only claimant does not hold it. */
export function isDisputed(cluster, policy, nowMs) {
    const { holder, claims } = lockStatusAt(cluster, policy, nowMs);
    return claims.length > 1 || (claims.length === 1 && holder === null);
}
/** The usual case, without a loop over all nodes: a sole claim that is not lost, and that every view names. */
function unopposed(cluster, [claim, ...others], context) {
    if (claim === undefined || others.length > 0 || cluster.leadership.lostClaims.size > 0)
        return null;
    if (isWithdrawn(cluster, claim))
        return null;
    const holder = claim.node.name;
    if (!isConfirmed(cluster, holder, context))
        return null;
    const { decision } = cluster.leadership;
    if (decision.kind === "held" && decision.by === "sole" && decision.holder === holder)
        return decision;
    return { kind: "held", holder, by: "sole", witnesses: [] };
}
function freshClaims(cluster, policy, nowMs) {
    const maxAge = maxAgeMs(cluster, policy);
    const claims = [];
    for (const index of cluster.lockClaims) {
        const claim = cluster.nodes[index];
        if (claim === undefined || claim.isDown || !isFresh(claim, maxAge, nowMs))
            continue;
        if (!isForeign(cluster, claim, policy) && isBelievableClaim(claim, policy, nowMs))
            claims.push(claim);
    }
    return claims;
}
/** Age ends claims. For claims without an API it also ends the evidence of the standbys that decide between them. */
function claimsUntilMs(cluster, claims, context) {
    const maxAge = maxAgeMs(cluster, context.policy);
    let untilMs = Infinity;
    for (const claim of claims)
        untilMs = Math.min(untilMs, countsUntilMs(claim, maxAge, context.policy));
    const standbysDecide = claims.length > 1 && claims.some(({ node }) => node.api === null);
    return standbysDecide ? Math.min(untilMs, upstreamUntilMs(cluster, context)) : untilMs;
}
/** Whether the claim is of another scope, or of a node that answers at another node's address. */
function isForeign(cluster, { node, report }, policy) {
    if (!policy.guards.sameSystem || report === null)
        return false;
    return isOutOfScope(cluster, report) || isMisaddressed(node, report);
}
function inputsOf(cluster, claims, { policy, nowMs }) {
    const nodes = new Map();
    for (const observation of cluster.nodes) {
        const { node, sentAtMs, hasLock, failuresInRow, isDown } = observation;
        const isSilent = isDown || failuresInRow > 0;
        const canTestify = node.api !== null && isIdentified(cluster, node.name, policy);
        // A fixed node may be probed at another address than it advertises.
        const api = node.isFixed ? null : node.api;
        nodes.set(node.name, {
            reportedAtMs: sentAtMs,
            hasLock,
            isSilent,
            isViewFailing: cluster.failedViews.has(node.name),
            canTestify,
            api,
        });
    }
    const { lostClaims, incumbent } = cluster.leadership;
    const views = validViews(cluster, policy, nowMs);
    return {
        claims: claims.map(claimOf),
        views,
        nodes,
        lostClaims,
        withdrawals: withdrawalsByNode(cluster),
        lastHolder: lastUncontestedLeaderOf(cluster.leadership),
        incumbent,
    };
}
function claimOf({ node, report, claimedSinceMs }) {
    return {
        node: node.name,
        appearedAtMs: claimedSinceMs ?? Infinity,
        timeline: report?.timeline ?? null,
        isPaused: report?.isPaused ?? false,
        isFailsafe: report?.isFailsafe ?? false,
        hasApi: node.api !== null,
    };
}
/** Decides between several claims without a cluster manager: by the standbys, not by timelines or the incumbent. */
function byReceivers(cluster, { claims, counting, lostClaims }, context) {
    const open = counting.filter(({ node }) => !lostClaims.has(node.name));
    if (open.length < 2 || open[0]?.node.api !== null)
        return null;
    const holder = upstreamOfStandbys(cluster, claims, context);
    return holder === null
        ? { kind: "contested", between: open.map(({ node }) => node.name).toSorted() }
        : { kind: "held", holder, by: "receivers", witnesses: [] };
}
function isStillReceivedFrom(cluster, claims, context) {
    return (eligibleClaims(claims).length < 2 ||
        upstreamOfStandbys(cluster, claims, context) === lockHolderOf(cluster.leadership));
}
/** An unchanged decision stays the same object, so that listeners see no change. */
function isSameDecision(one, other) {
    if (one.kind === "held" && other.kind === "held")
        return one.holder === other.holder && one.by === other.by && one.witnesses.join() === other.witnesses.join();
    if (one.kind === "unclaimed" && other.kind === "unclaimed")
        return one.lastHolder === other.lastHolder;
    if (one.kind === "contested" && other.kind === "contested")
        return one.between.join() === other.between.join();
    return one.kind === other.kind;
}
function hasSameLosses(one, other) {
    return one.size === other.size && [...other].every(([node, loss]) => one.get(node) === loss);
}
//# sourceMappingURL=lock-status.js.map