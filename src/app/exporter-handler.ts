import { basename } from "node:path";
import { clusterNamed, nodeNamed } from "../cluster/lookup.ts";
import type { ClusterState } from "../cluster/snapshot.ts";
import type { Config, ListenerConfig } from "../config/model/config.ts";
import { ExporterApi, type ExporterApiContext } from "../http/exporter-api/exporter-api.ts";
import { isReload } from "../http/message/exporter-paths.ts";
import type { ListenerHandler, RequestHandler } from "../http/message/handler.ts";
import type { Request } from "../http/message/request.ts";
import { disagreement } from "../health/evidence/exporter-disagreement.ts";
import { viewAt } from "../health/evidence/cluster-view.ts";
import { buildInfo, versionText } from "../metrics/collectors/build-info.ts";
import { explainText, statText } from "../metrics/collectors/collector-reports.ts";
import { collectorsOf, type Collector } from "../metrics/collectors/collectors.ts";
import { readFrom } from "../metrics/nodes/pg-exporter-metrics.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { livenessIntervalFactor } from "../state/clusters.ts";
import { version } from "../config/version.ts";

/** What a listener of the exporter dialect is wired to. */
export interface ExporterHandlerContext extends Pick<ExporterApiContext, "inputs" | "reload" | "onAnswer" | "gate"> {
  readonly config: Config;
  readonly metrics: Metrics;
  /** The file that the configuration came from; `null` where the command line said it all. */
  readonly file: string | null;
}

/** The handler of one listener of the exporter dialect. */
export function exporterHandler(listener: ListenerConfig, wires: ExporterHandlerContext): ListenerHandler {
  const { config, metrics, file, inputs } = wires;
  // The configuration is checked: a listener of this dialect speaks for one cluster.
  const cluster = listener.cluster ?? "";
  const asks = { probe: config.probe, livenessEvery: livenessIntervalFactor };
  const partOf = (name: string): ClusterState | undefined => {
    const { snapshot } = inputs();
    return clusterNamed(snapshot, name);
  };
  const collectors = (name: string, node: string | null): readonly Collector[] => {
    const state = partOf(name);
    return state === undefined ? [] : collectorsOf(state, node, asks);
  };
  const dialect = new ExporterApi(
    { cluster, node: listener.node, telemetryPath: config.exporter.telemetryPath },
    {
      ...wires,
      metrics: () => metrics.render(),
      version: () => versionText(buildInfo(version())),
      explain: (name, node) =>
        explainText(collectors(name, node), {
          source: file === null ? "command line" : basename(file),
          noteOf: (collector) => noteOf(collector, wires),
        }),
      stat: (name, node) =>
        statText(
          collectors(name, node).map((collector) => {
            const stat = metrics.askings.of(collector.cluster, collector.node, collector.endpoint);
            const part = partOf(collector.cluster);
            const observation = part && nodeNamed(part, collector.node);
            const count = stat === null || observation === undefined ? 0 : readFrom(stat, collector, { observation });
            return { collector, stat, metrics: count };
          }),
        ),
    },
  );
  const handler: RequestHandler = (call) => dialect.handle(call);
  return Object.assign(handler, { changes: ({ target }: Request) => isReload(target, config.exporter.telemetryPath) });
}

/** A disagreement stands with the collector of the exporter's word. */
function noteOf({ cluster, node, endpoint }: Collector, { inputs }: ExporterHandlerContext): string | null {
  if (endpoint !== "up") return null;
  const { snapshot, policy, nowMs } = inputs();
  const part = clusterNamed(snapshot, cluster);
  const judged = policy(cluster);
  const observation = part && nodeNamed(part, node);
  if (part === undefined || judged === undefined || observation === undefined) return null;
  const differing = disagreement(viewAt(part, judged, nowMs), observation);
  return differing === null
    ? null
    : `It disagrees now: the exporter says ${differing.exporter}, the node's API says ${differing.node}`;
}
