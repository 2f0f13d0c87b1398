import { discoveredCluster } from "./answers.ts";
import type { Clusters } from "./clusters.ts";
import { timing } from "./timing.ts";

/** The ports of a soak's listeners. */
export interface Ports {
  readonly fast: number;
  readonly ordinary: number;
  readonly tls: number;
  readonly admin: number;
  readonly agent: number;
  readonly exporter: number;
  /** Of a listener that a reload adds and removes. */
  readonly extra: number;
}

/** What a configuration of a soak is made from. */
export interface Parts {
  readonly ports: Ports;
  readonly clusters: Clusters["all"];
  readonly etcd: string;
  readonly exporters: readonly string[];
  readonly balancer: string;
  readonly folder: string;
  readonly certificate: { readonly cert: string; readonly key: string };
}

/** What reloads change. */
export interface Changes {
  readonly hasExtraCluster: boolean;
  readonly hasExtraListener: boolean;
}

/** The configuration of a soak. The last cluster is only there with `hasExtraCluster`. */
export function configurationOf(parts: Parts, { hasExtraCluster, hasExtraListener }: Changes): object {
  const { ports, etcd, exporters, balancer, folder, certificate } = parts;
  const limits = { connections_per_address: 100, header_timeout: "5s", request_timeout: "10s", idle_timeout: "20s" };
  const shown = parts.clusters.slice(0, hasExtraCluster ? undefined : -1);
  const clusters = shown.map(({ simulator }, at) => ({
    name: simulator.scope,
    ...(simulator.scope === discoveredCluster
      ? { discover: simulator.nodes.map(({ url }) => url) }
      : {
          nodes: simulator.nodes.map(({ name, url }, node) => ({
            name,
            api: url,
            ...(at === 0 && { exporter: exporters[node] }),
          })),
        }),
    ...(at === 0 && { dcs: { etcd: [etcd] } }),
  }));
  return {
    clusters,
    probe: { interval: `${timing.intervalMs}ms`, connect_timeout: "500ms", timeout: `${timing.timeoutMs}ms` },
    guards: { attach_window: `${timing.attachMs}ms`, demoted_for: `${timing.demotedMs}ms` },
    listen: [
      { port: ports.fast, limits },
      // A list of addresses keeps a listener off the fast path.
      { port: ports.ordinary, allow: ["127.0.0.0/8"], limits, operator_pages: true, management: true },
      { port: ports.tls, tls: certificate, limits },
      { port: ports.admin, dialect: "admin" },
      { port: ports.agent, dialect: "agent", check: "/replica?lag=10MB", weight: {} },
      { port: ports.exporter, dialect: "exporter", cluster: "c0", node: "pg1" },
      ...(hasExtraListener ? [{ port: ports.extra, cluster: "c0", node: "pg1" }] : []),
    ],
    balancers: [
      {
        name: "edge",
        haproxy: {
          socket: balancer,
          backends: [
            { name: "write", cluster: "c0", check: "/primary" },
            { name: "read", cluster: "c0", check: "/replica?lag=10MB&miss=404" },
          ],
        },
      },
    ],
    state_file: `${folder}/state.json`,
    history: { enabled: true, max_size: "16MB" },
    workers: 2,
    drain: "1s",
    log: { level: "info", format: "json" },
  };
}

/** A configuration that a reload must refuse. */
export function invalidConfigurationOf(parts: Parts, variant: string, takenPort: number): string {
  const valid = configurationOf(parts, { hasExtraCluster: false, hasExtraListener: false });
  const { listen } = valid as { readonly listen: readonly object[] };
  switch (variant) {
    case "unknownKey":
      return JSON.stringify({ ...valid, worker: 3 });
    case "duration":
      return JSON.stringify({ ...valid, probe: { interval: "100" } });
    case "portTaken":
      return JSON.stringify({ ...valid, listen: [...listen, { port: takenPort }] });
    case "missingFile":
      return JSON.stringify({
        ...valid,
        listen: [...listen, { port: parts.ports.extra, tls: { cert: "/nonexistent/a", key: "/nonexistent/b" } }],
      });
    default:
      return "clusters: [\n\t}}";
  }
}
