import { stringify } from "yaml";
import { hostPort } from "./edges.ts";
import type { Targets } from "./targets.ts";

/** Renders the Prometheus scrape configuration: rolecall, the API of every node, and every known exporter. */
export function renderPrometheus({ clusters, admin }: Targets): string {
  const nodes = clusters.flatMap((cluster) => cluster.scraped.map((node) => ({ cluster: cluster.name, ...node })));
  const jobs = [
    ...(admin === null ? [] : [{ job_name: "rolecall", static_configs: [{ targets: [hostPort(admin)] }] }]),
    ...byScheme(
      "patroni",
      nodes.flatMap(({ cluster, name, api }) =>
        api === null || !URL.canParse(api) ? [] : [{ cluster, name, url: new URL(api) }],
      ),
    ),
    ...byScheme(
      "pg_exporter",
      nodes.flatMap(({ cluster, name, exporter }) =>
        exporter === null || !URL.canParse(exporter) ? [] : [{ cluster, name, url: new URL(exporter) }],
      ),
    ),
  ];
  const text = stringify({ scrape_configs: jobs }, { lineWidth: 0 });
  return `# Rendered by rolecall: merge it into prometheus.yml\n${text}`;
}

interface Scraped {
  readonly cluster: string;
  readonly name: string;
  readonly url: URL;
}

/** Groups the targets by scheme: all targets of a job have the same one. */
function byScheme(job: string, nodes: readonly Scraped[]): readonly object[] {
  return (["http", "https"] as const).flatMap((scheme) => {
    const selected = nodes.filter(({ url }) => url.protocol === `${scheme}:`);
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
