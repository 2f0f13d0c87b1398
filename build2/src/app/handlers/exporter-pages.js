import { basename } from "node:path";
import { clusterNamed, nodeNamed } from "../../cluster/lookup.js";
import { version } from "../../config/version.js";
import { viewAt } from "../../health/evidence/cluster-view.js";
import { disagreement } from "../../health/evidence/exporter-disagreement.js";
import { ExporterApi } from "../../http/exporter-api/exporter-api.js";
import { buildInfo, versionText } from "../../metrics/collectors/build-info.js";
import { explainText, statText } from "../../metrics/collectors/collector-reports.js";
import { collectorsOf } from "../../metrics/collectors/collectors.js";
import { readFrom } from "../../metrics/nodes/pg-exporter-metrics.js";
import { livenessIntervalFactor } from "../../state/clusters.js";
import { exporterCluster } from "./listener-handler.js";
/**
 * Builds the exporter API of one listener: `/metrics`, `/explain`, `/stat`, `/version` and `/reload`
 * (seeds/exporter-api.md).
 */
export function buildExporterApi({ listener, config }, sources, { gate, metrics, reload, configFile }) {
    const scope = {
        cluster: exporterCluster(listener),
        node: listener.node,
        telemetryPath: config.exporter.telemetryPath,
    };
    const schedule = { probe: config.probe, livenessIntervalFactor };
    const collectors = (cluster, node) => {
        const state = clusterNamed(sources.snapshot(), cluster);
        return state === undefined ? [] : collectorsOf(state, node, schedule);
    };
    return new ExporterApi(scope, {
        gate,
        inputs: sources.inputs,
        onAnswer: sources.onAnswer,
        reload,
        metrics: () => metrics.render(),
        version: () => versionText(buildInfo(version())),
        explain: (cluster, node) => explainText(collectors(cluster, node), {
            source: configFile === null ? "command line" : basename(configFile),
            noteOf: (collector) => disagreementNote(collector, sources),
        }),
        stat: (cluster, node) => statText(collectors(cluster, node).map((collector) => collectorStat(collector, sources, metrics))),
    });
}
function collectorStat(collector, sources, { probeStats }) {
    const stat = probeStats.of(collector.cluster, collector.node, collector.endpoint);
    const state = clusterNamed(sources.snapshot(), collector.cluster);
    const observation = state && nodeNamed(state, collector.node);
    const count = stat === null || observation === undefined ? 0 : readFrom(stat, collector, { observation });
    return { collector, stat, metrics: count };
}
/** The note for the collector of `/up`: exporter and node API disagree now. `null` for others, or if they agree. */
function disagreementNote({ cluster, node, endpoint }, sources) {
    if (endpoint !== "up")
        return null;
    const state = clusterNamed(sources.snapshot(), cluster);
    const policy = sources.policy(cluster);
    const observation = state && nodeNamed(state, node);
    if (state === undefined || policy === undefined || observation === undefined)
        return null;
    const found = disagreement(viewAt(state, policy, sources.now()), observation);
    return found === null
        ? null
        : `It disagrees now: the exporter says ${found.exporter}, the node's API says ${found.node}`;
}
//# sourceMappingURL=exporter-pages.js.map