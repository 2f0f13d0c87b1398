import { holdsLock, lockUntilMs } from "./lock.js";
import { drainOf } from "../evidence/active-drain.js";
import { unfit, validUntil } from "../verdict.js";
/** Routes that a replica never serves. A drain refuses all others. */
const undrainedRoutes = new Set(["primary", "standby-leader", "leader", "health", "liveness"]);
/**
 * Refuses a node that an operator drained (reason `drained`, a soft no). A drain never makes another no milder: hard
 * reasons stay. It replaces a lag that is too great, or `keep=` would bring the node back in. Liveness is never
 * drained, since its no kills processes; nor is the holder of the lock unless the drain says `all`.
 */
export function withDrain(verdict, view, { observation, check }) {
    const drain = drainOf(view.cluster, observation.node.name, view.nowMs);
    if (drain === null || (!verdict.fit && verdict.reason !== "lagging"))
        return verdict;
    const untilMs = Math.min(verdict.validUntilMs, drain.untilMs);
    if (drain.isAll)
        return validUntil(unfit("drained", drain.reason), untilMs);
    if (undrainedRoutes.has(check.route))
        return verdict;
    const isExempt = holdsLock(view, observation);
    const decided = isExempt ? verdict : unfit("drained", drain.reason);
    return validUntil(decided, Math.min(untilMs, lockUntilMs(view, observation)));
}
//# sourceMappingURL=drain.js.map