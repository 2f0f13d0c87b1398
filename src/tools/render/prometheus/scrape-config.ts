import { stringify } from "yaml";
import { hostPort } from "../../../core/command/render/edges.ts";
import { probedComments } from "../../../core/command/render/member-comments.ts";
import { type Targets } from "../../../core/command/render/targets.ts";

/** Our own series, without those of the nodes that rolecall exports too. */
const ownSeries = "(rolecall|process)_.*|up";

/** Where the metrics of the nodes come from: nowhere, from the first instance of rolecall, or from the nodes. */
export const nodeMetricSources = ["none", "rolecall", "nodes"] as const;

export type NodeMetricSource = (typeof nodeMetricSources)[number];

/** What the rendered scrape configuration depends on. */
export interface ScrapeOptions {
  readonly job: string;
  readonly nodeMetrics: NodeMetricSource;
}

/**
 * Renders the Prometheus scrape configuration. Every instance of rolecall exports the metrics of all nodes that it
 * probes, in addition to its own. If several sources of them were scraped, a sum over the nodes would count each node several times. So
 * they come from one source, or are left out.
 */
export function renderPrometheus(targets: Targets, { job, nodeMetrics }: ScrapeOptions): string {
  const { clusters, admins } = targets;
  const nodes = clusters.flatMap((cluster) => cluster.scraped.map((node) => ({ cluster: cluster.name, ...node })));
  const scheme = admins.some(({ isTls }) => isTls) ? { scheme: "https" } : {};
  const jobs = [
    ...(admins.length === 0
      ? []
      : [
          {
            job_name: job,
            scrape_interval: "15s",
            ...scheme,
            static_configs: [{ targets: admins.map(hostPort) }],
            metric_relabel_configs: [keptSeries(nodeMetrics, admins[0] === undefined ? "" : hostPort(admins[0]))],
          },
        ]),
    ...(nodeMetrics === "nodes"
      ? [
          ...byScheme(
            "patroni",
            nodes.map(({ cluster, name, api }) => ({ cluster, name, url: api })),
          ),
          ...byScheme(
            "pg_exporter",
            nodes.map(({ cluster, name, exporter }) => ({ cluster, name, url: exporter })),
          ),
        ]
      : []),
  ];
  const text = stringify({ rule_files: ["rolecall-rules.yml"], scrape_configs: jobs }, { lineWidth: 0 });
  return (
    "# Rendered by rolecall: merge it into prometheus.yml. rolecall render alerts prints rolecall-rules.yml\n" +
    `${nodeMetrics === "nodes" ? probedComments(targets) : ""}${text}`
  );
}

/** Of the metrics of the nodes, keeps those of the first instance alone, or none. */
function keptSeries(nodeMetrics: NodeMetricSource, first: string): object {
  if (nodeMetrics !== "rolecall") return { source_labels: ["__name__"], regex: ownSeries, action: "keep" };
  const instance = first.replaceAll(/[.[\]]/g, "\\$&");
  return { source_labels: ["instance", "__name__"], regex: `${instance};.*|.*;(${ownSeries})`, action: "keep" };
}

interface Scraped {
  readonly cluster: string;
  readonly name: string;
  /** The base address, or `null` if the node has none. */
  readonly url: string | null;
}

/** Groups the targets by scheme: all targets of a job have the same one. */
function byScheme(job: string, nodes: readonly Scraped[]): readonly object[] {
  const parsed = nodes.flatMap(({ cluster, name, url }) =>
    url === null || !URL.canParse(url) ? [] : [{ cluster, name, url: new URL(url) }],
  );
  return (["http", "https"] as const).flatMap((scheme) => {
    const selected = parsed.filter(({ url }) => url.protocol === `${scheme}:`);
    if (selected.length === 0) return [];
    const staticConfigs = selected.map(({ cluster, name, url }) => ({
      targets: [targetOf(url)],
      labels: { cluster, node: name },
    }));
    return [{ job_name: scheme === "http" ? job : `${job}_https`, scheme, static_configs: staticConfigs }];
  });
}

function targetOf(url: URL): string {
  return url.port === "" ? `${url.hostname}:${url.protocol === "https:" ? 443 : 80}` : url.host;
}
