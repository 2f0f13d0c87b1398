import { stringify } from "yaml";
import { hostPort, type Targets } from "./targets.ts";

/** Scrape configuration: rolecall itself, every node's API, and every exporter that is known. */
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
  return `# Rendered by rolecall: to be merged into prometheus.yml\n${stringify({ scrape_configs: jobs }, { lineWidth: 0 })}`;
}

interface Scraped {
  readonly cluster: string;
  readonly name: string;
  readonly url: URL;
}

/** A job has one scheme for all its targets. */
function byScheme(job: string, nodes: readonly Scraped[]): readonly object[] {
  return (["http", "https"] as const).flatMap((scheme) => {
    const chosen = nodes.filter(({ url }) => url.protocol === `${scheme}:`);
    if (chosen.length === 0) return [];
    const staticConfigs = chosen.map(({ cluster, name, url }) => ({
      targets: [targetOf(url)],
      labels: { cluster, node: name },
    }));
    return [{ job_name: scheme === "http" ? job : `${job}_https`, scheme, static_configs: staticConfigs }];
  });
}

function targetOf(url: URL): string {
  return url.port === "" ? `${url.hostname}:${url.protocol === "https:" ? 443 : 80}` : url.host;
}
