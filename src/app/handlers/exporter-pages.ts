import { basename } from "node:path";
import { clusterNamed, nodeNamed } from "../../cluster/lookup.ts";
import { version } from "../../config/version.ts";
import { viewAt } from "../../health/evidence/leadership/cluster-view.ts";
import { disagreement } from "../../health/evidence/leadership/exporter-disagreement.ts";
import { ExporterApi } from "../../http/exporter-api/exporter-api.ts";
import { buildInfo, versionText } from "../../metrics/collectors/build-info.ts";
import { explainText, statText, type CollectorStat } from "../../metrics/collectors/collector-reports.ts";
import { collectorsOf, type Collector } from "../../metrics/collectors/collectors.ts";
import type { PageGate } from "../../http/pages/page-gate.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { valueCountOf } from "../../metrics/nodes/pg-exporter-metrics.ts";
import { livenessIntervalFactor } from "../../state/clusters.ts";
import type { AnswerSources } from "./answer-sources.ts";
import { exporterCluster, type ListenerInConfig } from "./listener-handler.ts";

/** What the pages of an exporter listener are rendered from, in addition to the snapshot. */
interface ExporterPagesContext {
  /** Limits pages over all listeners of this process. */
  readonly gate: PageGate;
  readonly metrics: Metrics;
  /** Reads the configuration again. @returns why it was refused, or `null` */
  readonly reload: () => Promise<string | null>;
  /** The file that the configuration came from, or `null`. */
  readonly configFile: string | null;
}

/**
 * Builds the exporter API of one listener: `/metrics`, `/explain`, `/stat`, `/version` and `/reload`
 * (docs/exporters.md, "As an API").
 */
export function buildExporterApi(
  { listener, config }: ListenerInConfig,
  sources: AnswerSources,
  { gate, metrics, reload, configFile }: ExporterPagesContext,
): ExporterApi {
  const scope = {
    cluster: exporterCluster(listener),
    node: listener.node,
    telemetryPath: config.exporter.telemetryPath,
  };
  const schedule = { probe: config.probe, livenessIntervalFactor };
  const collectors = (cluster: string, node: string | null): readonly Collector[] => {
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
    explain: (cluster, node) =>
      explainText(collectors(cluster, node), {
        source: configFile === null ? "command line" : basename(configFile),
        noteOf: (collector) => disagreementNote(collector, sources),
      }),
    stat: (cluster, node) =>
      statText(collectors(cluster, node).map((collector) => collectorStat(collector, sources, metrics))),
  });
}

function collectorStat(collector: Collector, sources: AnswerSources, { probeStats }: Metrics): CollectorStat {
  const stat = probeStats.of(collector.cluster, collector.node, collector.endpoint);
  const state = clusterNamed(sources.snapshot(), collector.cluster);
  const observation = state && nodeNamed(state, collector.node);
  const count = stat === null || observation === undefined ? 0 : valueCountOf(stat, collector, { observation });
  return { collector, stat, metrics: count };
}

/** The note for the collector of `/up`: exporter and node API disagree now. `null` for others, or if they agree. */
function disagreementNote({ cluster, node, endpoint }: Collector, sources: AnswerSources): string | null {
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
