import { plainCheck } from "../check.js";
import { judge } from "../judge/judge.js";
const primaryCheck = plainCheck("primary");
const replicaCheck = plainCheck("replica");
/** Summarizes a node as it is at the view's instant. */
export function summarize(view, observation) {
    return timedSummary(view, observation).summary;
}
/** Summarizes a node, and says how long the summary holds. */
export function timedSummary(view, observation) {
    const primary = judge(view, observation, primaryCheck);
    const replica = judge(view, observation, replicaCheck);
    return {
        summary: {
            role: observation.report?.role ?? "unknown",
            isReachable: observation.failuresInRow === 0 && observation.report !== null,
            primary: primary.fit ? "fit" : primary.reason,
            replica: replica.fit ? "fit" : replica.reason,
        },
        validUntilMs: Math.min(primary.validUntilMs, replica.validUntilMs),
    };
}
//# sourceMappingURL=summary.js.map