import { basename } from "node:path";
import type { ClusterPart } from "./cluster/snapshot.ts";
import type { Config, ListenerConfig } from "./config/config.ts";
import { ExporterDialect, type ExporterSources } from "./front/exporter-dialect.ts";
import { exporterPageOf, isReload } from "./front/exporter-paths.ts";
import type { Handler } from "./front/listener.ts";
import { paged, scrapesMax } from "./front/page.ts";
import type { PageGate } from "./front/page-gate.ts";
import type { Request } from "./front/request.ts";
import { disagreement } from "./health/disagreement.ts";
import { look } from "./health/sight.ts";
import { buildInfo, versionText } from "./metrics/build-info.ts";
import { explainText, statText } from "./metrics/collector-reports.ts";
import { collectorsOf, type Collector } from "./metrics/collectors.ts";
import { readFrom } from "./metrics/exporter-families.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { livenessEvery } from "./tend.ts";
import { version } from "./version.ts";

/** What a listener of the exporter dialect is wired to. */
export interface ExporterWires extends Pick<ExporterSources, "evidence" | "reload" | "onAnswer"> {
  readonly config: Config;
  readonly metrics: Metrics;
  readonly gate: PageGate;
  /** The file that the configuration came from; `null` where the command line said it all. */
  readonly file: string | null;
}

/** The handler of one listener of the exporter dialect. */
export function exporterHandler(listener: ListenerConfig, wires: ExporterWires): Handler {
  const { config, metrics, file, evidence } = wires;
  // The configuration is checked: a listener of this dialect speaks for one cluster.
  const cluster = listener.cluster ?? "";
  const asks = { probe: config.probe, livenessEvery };
  const partOf = (name: string): ClusterPart | undefined => {
    const { snapshot } = evidence();
    return snapshot.parts[snapshot.index.get(name) ?? -1];
  };
  const collectors = (name: string, node: string | null): readonly Collector[] => {
    const part = partOf(name);
    return part === undefined ? [] : collectorsOf(part, node, asks);
  };
  const dialect = new ExporterDialect(
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
            const asking = metrics.askings.of(collector.cluster, collector.node, collector.question);
            const part = partOf(collector.cluster);
            const observation = part?.nodes[part.index.get(collector.node) ?? -1];
            const count = asking === null || observation === undefined ? 0 : readFrom(asking, collector, { observation });
            return { collector, asking, metrics: count };
          }),
        ),
    },
  );
  const handler = (request: Request): ReturnType<Handler> => {
    const page = exporterPageOf(request.target, config.exporter.telemetryPath);
    if (page === null) return dialect.handle(request);
    // All who wait for metrics get one page.
    const atOnce = page === "metrics" ? scrapesMax : 1;
    return paged({ gate: wires.gate, name: `exporter ${page}`, atOnce, render: () => dialect.handle(request) });
  };
  return Object.assign(handler, { changes: ({ target }: Request) => isReload(target, config.exporter.telemetryPath) });
}

/** A disagreement stands with the collector of the exporter's word. */
function noteOf({ cluster, node, question }: Collector, { evidence }: ExporterWires): string | null {
  if (question !== "up") return null;
  const { snapshot, settings, nowMs } = evidence();
  const part = snapshot.parts[snapshot.index.get(cluster) ?? -1];
  const judged = settings(cluster);
  const observation = part?.nodes[part.index.get(node) ?? -1];
  if (part === undefined || judged === undefined || observation === undefined) return null;
  const differing = disagreement(look(part, judged, nowMs), observation);
  return differing === null ? null : `It disagrees now: the exporter says ${differing.exporter}, the node's API says ${differing.node}`;
}
