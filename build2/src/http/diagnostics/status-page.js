import { clusterHead, nodeOverview } from "../../health/explain/overview.js";
import { viewAt } from "../../health/evidence/cluster-view.js";
import { renderSliced } from "../pages/rendering.js";
/**
 * Answers `/status` with every cluster of the listener, and its nodes with what each is fit for (see `Overview`).
 * @param only cluster names: if one is not `null`, other clusters are left out
 */
export function statusPageReply(only, sources, rendering) {
    return renderSliced(statusPieces(only, sources), rendering, ["Content-Type", "application/json"]);
}
function* statusPieces(only, { snapshot, policy, now }) {
    const { instance, sequence, clusters } = snapshot();
    const nowMs = now();
    yield `${JSON.stringify({ instance, snapshot: sequence }).slice(0, -1)},"clusters":[`;
    let separator = "";
    for (const state of clusters) {
        const clusterPolicy = only.every((cluster) => cluster === null || state.name === cluster)
            ? policy(state.name)
            : undefined;
        if (clusterPolicy === undefined)
            continue;
        const view = viewAt(state, clusterPolicy, nowMs);
        yield `${separator}${JSON.stringify(clusterHead(view)).slice(0, -1)},"nodes":[`;
        separator = ",";
        let comma = "";
        for (const observation of state.nodes) {
            yield `${comma}${JSON.stringify(nodeOverview(view, observation))}`;
            comma = ",";
        }
        yield "]}";
    }
    yield "]}";
}
//# sourceMappingURL=status-page.js.map