import { basename } from "node:path";
import { clusterNamed, nodeNamed } from "../../core/cluster/lookup.ts";
import { version } from "../../core/config/version.ts";
import type { AnswersRest, ApiContext, ApiSources } from "../../core/feature/listener-api.ts";
import { viewAt } from "../../core/health/evidence/leadership/cluster-view.ts";
import { disagreement } from "../../core/health/evidence/leadership/exporter-disagreement.ts";
import { ExporterApi } from "./exporter-pages.ts";
import { buildInfo, versionText } from "../../core/metrics/collectors/build-info.ts";
import { explainText, statText, type CollectorStat } from "./collector-reports.ts";
import { collectorsOf, type Collector } from "../../core/metrics/collectors/collectors.ts";
import { valueCountOf } from "../../core/metrics/nodes/pg-exporter-metrics.ts";
import { livenessIntervalFactor } from "../../core/state/clusters.ts";
import { exporterScope } from "./exporter-roles.ts";

/** Answers what is not answered from memory on an exporter listener. */
export const answerPages: AnswersRest = ({ listener, config }, sources, { gate, metrics, reload, configFile }) => {
  const schedule = { probe: config.probe, livenessIntervalFactor };
  const collectors = (cluster: string, node: string | null): readonly Collector[] => {
    const state = clusterNamed(sources.snapshot(), cluster);
    return state === undefined ? [] : collectorsOf(state, node, schedule);
  };
  const scope = { ...exporterScope(listener), telemetryPath: config.exporter.telemetryPath };
  const api = new ExporterApi(scope, {
    gate,
    reload,
    metrics: () => metrics.render(),
    version: () => versionText(buildInfo(version())),
    explain: (cluster, node) =>
      explainText(collectors(cluster, node), {
        source: configFile === null ? "command line" : basename(configFile),
        noteOf: (collector) => disagreementNote(collector, sources),
      }),
    stat: (cluster, node) =>
      statText(collectors(cluster, node).map((collector) => collectorStat(collector, sources, metrics))),
  });
  return (call) => api.handle(call);
};

function collectorStat(
  collector: Collector,
  sources: ApiSources,
  { probeStats }: ApiContext["metrics"],
): CollectorStat {
  const stat = probeStats.of(collector.cluster, collector.node, collector.endpoint);
  const state = clusterNamed(sources.snapshot(), collector.cluster);
  const observation = state && nodeNamed(state, collector.node);
  const count = stat === null || observation === undefined ? 0 : valueCountOf(stat, collector, { observation });
  return { collector, stat, metrics: count };
}

/** The note for the collector of `/up`: exporter and node API disagree now. `null` for others, or if they agree. */
function disagreementNote({ cluster, node, endpoint }: Collector, sources: ApiSources): string | null {
  if (endpoint !== "up") return null;
  const state = clusterNamed(sources.snapshot(), cluster);
  const policy = sources.policy(cluster);
  const observation = state && nodeNamed(state, node);
  if (state === undefined || policy === undefined || observation === undefined) return null;
  const found = disagreement(viewAt(state, policy, sources.now()), observation);
  return found === null
    ? null
    : `It disagrees now: the exporter says ${found.exporter}, the node's API says ${found.node}`;
}
