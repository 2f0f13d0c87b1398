import { isObject, parseJson } from "../../cluster/values/json.js";
import { isFresh } from "../../health/evidence/freshness.js";
import { viewAt } from "../../health/evidence/cluster-view.js";
import { summarize } from "../../health/explain/summary.js";
import { labelsText } from "../../exposition/writer.js";
/**
 * Every node of every cluster, of one snapshot at one instant. Generated one by one, so that a scrape can pause between
 * them.
 */
export function* nodeSeries({ snapshot, policy, now }) {
    const { clusters } = snapshot();
    const nowMs = now();
    for (const state of clusters) {
        const clusterPolicy = policy(state.name);
        if (clusterPolicy === undefined)
            continue;
        const view = viewAt(state, clusterPolicy, nowMs);
        const cluster = clusterSeriesOf(state);
        for (const observation of state.nodes)
            yield seriesOf(view, observation, cluster);
    }
}
function seriesOf(view, observation, cluster) {
    const { report, node } = observation;
    const isCurrent = report !== null && !observation.isDown && isFresh(observation, view.maxAgeMs, view.nowMs);
    const parsed = report === null ? null : parseJson(report.document);
    const lastDocument = isObject(parsed) ? parsed : null;
    const labels = { cluster: view.cluster.name, node: node.name };
    return {
        view,
        observation,
        summary: summarize(view, observation),
        labels: labelsText(labels),
        nodeMetricLabels: labelsText({
            scope: report?.scope ?? view.cluster.scope ?? view.cluster.name,
            name: report?.name ?? node.member,
            ...labels,
        }),
        freshDocument: isCurrent ? lastDocument : null,
        lastDocument,
        cluster,
    };
}
function clusterSeriesOf({ documents }) {
    const { config, failsafe } = documents;
    const configured = config === null || config.status !== 200 ? undefined : parseJson(config.body);
    // Any other status: failsafe mode has no members.
    const members = failsafe === null ? undefined : failsafe.status === 200 ? parseJson(failsafe.body) : {};
    return {
        isFailsafeEnabled: isObject(configured) ? configured["failsafe_mode"] === true : null,
        failsafeMembers: isObject(members) ? new Set(Object.keys(members)) : null,
    };
}
//# sourceMappingURL=node-series.js.map