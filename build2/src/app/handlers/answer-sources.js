import { isBlindEverywhere } from "../../health/evidence/readiness.js";
/** The answer sources of a process. */
export function answerSourcesOf({ store, clock, phase, counter, portOf }) {
    const snapshot = () => store().current;
    const policy = (cluster) => store().policyOf(cluster);
    const now = () => clock().observe();
    const unready = () => {
        if (phase() !== "serving")
            return phase();
        return isBlindEverywhere(store(), now()) ? "blind" : null;
    };
    return {
        inputs: () => ({ snapshot: snapshot(), policy, nowMs: now(), unready }),
        snapshot,
        policy,
        now,
        unready,
        onAnswer: (route, status) => counter.count(route, status),
        portOf,
    };
}
//# sourceMappingURL=answer-sources.js.map