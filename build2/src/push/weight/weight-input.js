import { timeLagMs } from "../../health/evidence/time-lag.js";
/**
 * Returns what the weight of a node's server depends on at the instant of a view. The leader is behind nobody. Pure.
 * @param isFit whether the check of the server passes
 */
export function weightInputOf(view, observation, isFit) {
    const { cluster, lock, nowMs } = view;
    const lagMs = observation.node.name === lock.holder ? 0 : timeLagMs(cluster, observation, view);
    return { nowMs, isFit, lagMs, startedAt: observation.report?.startedAt ?? null };
}
//# sourceMappingURL=weight-input.js.map