import { hostPort } from "../input/edges.ts";
import type { TargetCluster } from "../input/targets.ts";
import type { KubernetesOptions } from "./kubernetes-options.ts";

/** The port of the nodes' API, where it is not known. */
const apiPort = 8008;

/** A cluster whose databases are pods, behind a headless Service. */
export interface DatabasePods {
  readonly cluster: TargetCluster;
  /** The name of the headless Service. */
  readonly service: string;
  /** The DNS name of the headless Service, as rolecall resolves it. */
  readonly host: string;
  readonly selector: Readonly<Record<string, string>>;
  /** The ports of the nodes' APIs and exporters. */
  readonly apiPort: number;
  readonly exporterPort: number | null;
}

/** The clusters whose databases are pods: all, or none with `--external-databases`. */
export function databasePods(clusters: readonly TargetCluster[], options: KubernetesOptions): readonly DatabasePods[] {
  if (options.isExternal) return [];
  const services = new Set<string>();
  return clusters.map((cluster) => {
    const service = serviceName(cluster.name, services);
    const namespace = options.databaseNamespace ?? options.namespace;
    const exporter = cluster.scraped.find(({ exporter: url }) => url !== null)?.exporter ?? null;
    return {
      cluster,
      service,
      host: namespace === null ? service : `${service}.${namespace}.svc`,
      selector: options.selector ?? { "cluster-name": cluster.scope ?? cluster.name },
      apiPort: cluster.nodes.find(({ api }) => api !== null)?.api?.port ?? apiPort,
      exporterPort: exporter === null ? null : Number(new URL(exporter).port || 80),
    };
  });
}

/**
 * The headless Service of the databases. Without `publishNotReadyAddresses` a pod that is not ready has no DNS name, so
 * that rolecall could not see that it has recovered.
 */
export function databaseService(pods: DatabasePods, { databaseNamespace, namespace }: KubernetesOptions): object {
  const { service, selector } = pods;
  const own = databaseNamespace ?? namespace;
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: service, ...(own === null ? {} : { namespace: own }) },
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector,
      ports: databasePorts(pods),
    },
  };
}

/** The ports of the databases' Service: the databases, the nodes' APIs, and their exporters and companions, if there are any. */
export function databasePorts({ cluster, apiPort: port, exporterPort }: DatabasePods): readonly object[] {
  return [
    { name: "postgresql", port: cluster.nodes[0]?.database.port ?? 5432 },
    { name: "api", port },
    ...(exporterPort === null ? [] : [{ name: "exporter", port: exporterPort }]),
    // Names of companions may be longer than those of ports.
    ...cluster.companions.map((companion, at) => ({ name: `companion-${at + 1}`, port: companion.port })),
  ];
}

/** The cluster in the configuration of rolecall: found by the name of its Service, not by today's addresses of pods. */
export function podCluster({ cluster, host, apiPort: port, exporterPort }: DatabasePods): object {
  const isTls = cluster.nodes.some(({ api }) => api?.isTls === true);
  const scheme = isTls ? "https" : "http";
  const hasApi = cluster.scraped.some(({ api }) => api !== null);
  const withExporter = cluster.scraped.filter(({ exporter }) => exporter !== null);
  return {
    ...named(cluster),
    ...(hasApi ? { discover: [`${scheme}://${host}:${port}`] } : {}),
    ...(withExporter.length === 0
      ? {}
      : {
          nodes: withExporter.map(({ name, api }) => ({
            name,
            ...(api === null ? {} : { api: `${scheme}://${name}.${host}:${port}` }),
            exporter: `http://${name}.${host}:${exporterPort}`,
          })),
        }),
  };
}

/** The cluster in the configuration of rolecall, with the addresses that its nodes have now. */
export function externalCluster(cluster: TargetCluster): object {
  return {
    ...named(cluster),
    nodes: cluster.scraped.map(({ name, api, exporter }) => {
      const database = cluster.nodes.find((target) => target.name === name)?.database;
      return {
        name,
        ...(api === null ? {} : { api }),
        ...(exporter === null ? {} : { exporter }),
        ...(database === undefined ? {} : { database: hostPort(database) }),
        ...companionsOf(cluster, name),
      };
    }),
  };
}

function named({ name, scope, companions }: TargetCluster): object {
  const written = companions.map(({ path, ...companion }) => ({ ...companion, ...(path === null ? {} : { path }) }));
  return {
    name,
    ...(scope === null || scope === name ? {} : { scope }),
    ...(written.length === 0 ? {} : { companions: written }),
  };
}

/** Where the companions of a node listen, if not as those of the cluster do. */
function companionsOf({ companionsAt }: TargetCluster, node: string): object {
  const placed = Object.entries(companionsAt.get(node) ?? {});
  const addresses = placed.map(([name, address]) => [name, hostPort(address)]);
  return addresses.length === 0 ? {} : { companions: Object.fromEntries(addresses) };
}

/** A valid and unused name of a Service: cluster names may have upper-case letters, `_` and `.`. */
function serviceName(cluster: string, used: Set<string>): string {
  const plain = cluster.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const base = `${
    plain
      .replace(/^[^a-z]+/, "")
      .slice(0, 45)
      .replace(/-+$/, "") || "cluster"
  }-databases`;
  let name = base;
  for (let number = 2; used.has(name); number++) name = `${base}-${number}`;
  used.add(name);
  return name;
}
