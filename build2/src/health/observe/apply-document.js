import { withView } from "../evidence/leader-views.js";
import { estimatePosition } from "../evidence/position.js";
import { carriedSamples } from "../evidence/time-lag.js";
import { withMembers } from "./membership.js";
/** Applies one of the cluster's documents to its state. A cluster document of another scope is ignored. */
export function applyDocument(state, answer, { policy, nowMs }) {
    const { name, served, cluster, config, history } = answer;
    if (cluster !== undefined && cluster.scope !== null && state.scope !== null && cluster.scope !== state.scope)
        return state;
    const next = {
        ...state,
        documents: { ...state.documents, [name]: served },
        config: config ?? state.config,
        switchPoints: history ?? state.switchPoints,
    };
    if (cluster === undefined)
        return next;
    const scoped = { ...next, scope: next.scope ?? cluster.scope };
    const { source, sentAtMs } = served;
    const known = policy.discovers ? withMembers(scoped, { ...cluster, source, sentAtMs }, policy) : scoped;
    // Members first: the leader may be a member that this document adds.
    const viewed = withView(known, cluster, { witness: source, sentAtMs, nowMs });
    const position = estimatePosition(viewed, policy, nowMs);
    return position === viewed.position
        ? viewed
        : { ...viewed, position, positionSamples: carriedSamples(viewed, position, null) };
}
//# sourceMappingURL=apply-document.js.map