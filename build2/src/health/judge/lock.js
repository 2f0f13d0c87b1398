import { nodeNamed } from "../../cluster/lookup.js";
import { andThen, fit, unfit, unfitWithAge, validUntil } from "../verdict.js";
/**
 * States in which a database takes no writes, besides those that end in `failed` (rule 3). `unknown` (its query timed
 * out) is not one of them.
 */
const unwritable = new Set(["stopping", "stopped", "starting", "crashed"]);
/** Judges whether the node holds the cluster's lock: rule 2 decides between several that claim it. */
export function judgeLock(view, { observation, report }) {
    const untilMs = lockUntilMs(view, observation);
    if (holdsLock(view, observation))
        return validUntil(judgeHandover(view, observation.node.name), untilMs);
    if (observation.hasLock)
        return validUntil(refuseClaim(view, observation), untilMs);
    const { lastHeldAtMs } = observation;
    const demotedUntilMs = lastHeldAtMs === null ? -Infinity : lastHeldAtMs + view.policy.guards.demotedForMs;
    return view.nowMs < demotedUntilMs
        ? validUntil(unfit("demoted", report.role), demotedUntilMs)
        : unfit("wrong_role", report.role);
}
/** Refuses a claim that is not accepted. */
function refuseClaim(view, { node }) {
    const isLost = view.cluster.leadership.lostClaims.has(node.name);
    return view.lock.isContested && !isLost ? unfit("contested") : unfit("superseded", view.lock.holder);
}
/**
 * Judges whether the node holds the lock, does not lead a standby cluster, and its status shows a writable database
 * (rule 3).
 */
export function judgePrimary(view, reported) {
    return andThen(judgeLock(view, reported), () => {
        const { role, state } = reported.report;
        if (leadsStandbyCluster(view, reported))
            return unfit("wrong_role", role);
        if (!view.policy.guards.runningPrimary || isWritableState(reported.report))
            return fit;
        return unfit("not_writable", role === "replica" || role === "demoted" ? role : state);
    });
}
/** Whether role and state of a lock holder allow for a writable database (rule 3). */
export function isWritableState({ role, state }) {
    if (role === "replica" || role === "demoted")
        return false;
    return !unwritable.has(state) && !state.endsWith("failed");
}
/** Judges whether the node holds the lock and leads a standby cluster. */
export function judgeStandbyLeader(view, reported) {
    return andThen(judgeLock(view, reported), () => leadsStandbyCluster(view, reported) ? fit : unfit("wrong_role", reported.report.role));
}
/**
 * Makes a new leader wait until every balancer has seen the no of the old leader. Balancers do not check all nodes at
 * the same moment.
 */
function judgeHandover({ cluster, policy, nowMs }, name) {
    const { lastLoss } = cluster.leadership;
    const { handoverHoldMs, surviveMs } = policy.guards;
    if (handoverHoldMs === 0 || lastLoss === null || lastLoss.from === name)
        return fit;
    // With `survive` the old primary may keep its yes until the new claim appears.
    const claimedAtMs = surviveMs > 0 ? (nodeNamed(cluster, name)?.claimedSinceMs ?? -Infinity) : -Infinity;
    const holdUntilMs = Math.max(lastLoss.atMs, claimedAtMs) + handoverHoldMs;
    return nowMs < holdUntilMs
        ? validUntil(unfitWithAge("held_back", `${Math.ceil(holdUntilMs - nowMs)}ms`), holdUntilMs)
        : fit;
}
/**
 * Whether the node holds the lock, whatever PostgreSQL's role is. With the guard `exclusive_primary` off, each node's
 * own claim counts.
 */
export function holdsLock(view, { node, hasLock }) {
    return view.policy.guards.exclusivePrimary ? view.lock.holder === node.name : hasLock;
}
/**
 * Until when the answer of `holdsLock` stays valid if no outcome is recorded, in ms of rolecall's clock. Only a claim
 * can become too old.
 */
export function lockUntilMs(view, { hasLock }) {
    return hasLock && view.policy.guards.exclusivePrimary ? view.lock.validUntilMs : Infinity;
}
/**
 * Whether the node leads a standby cluster. Its role says so; a node that is still starting says `replica`, and then
 * the configuration decides. A leader that says `primary` is not a standby leader: the configuration may be half a
 * minute older than its promotion.
 */
function leadsStandbyCluster(view, { report }) {
    return (report.role === "standby_leader" || (report.role === "replica" && view.cluster.config?.isStandbyCluster === true));
}
//# sourceMappingURL=lock.js.map