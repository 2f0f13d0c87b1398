import { stringify } from "yaml";
import { hostPort, type TargetCluster, type Targets } from "./targets.ts";
import { portStep, type RenderOptions } from "./haproxy.ts";

/** The host suffix to use if the configuration has none. */
export const defaultSuffix = ".rolecall.internal";

/**
 * Renders a static Envoy configuration (reference/integrations.md, 2.1 and 0.4). The Host header selects the node,
 * because it is the only part of a check that Envoy can vary by endpoint. A 503 ejects at once, while 500 (blind)
 * counts towards the threshold. Panic routing is off: a write pool has one healthy endpoint of three.
 */
export function renderEnvoy(targets: Targets, options: RenderOptions): string {
  const pools = targets.clusters.flatMap((cluster, index) => [
    { cluster, kind: "write", path: "/primary", port: options.writePort + index * portStep },
    { cluster, kind: "read", path: `/replica?lag=${options.lag}`, port: options.readPort + index * portStep },
  ]);
  const document = {
    static_resources: {
      listeners: pools.map(({ cluster, kind, port }) => listener(`${cluster.name}-${kind}`, options.bind, port)),
      clusters: pools.map(({ cluster, kind, path }) => upstreamCluster(targets, cluster, { kind, path })),
    },
  };
  const suffix = targets.hostSuffix ?? defaultSuffix;
  const text = stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
  return `# Rendered by rolecall. host_suffixes in the rolecall configuration must contain ${suffix}\n${text}`;
}

function listener(name: string, address: string, port: number): object {
  const proxy = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
    stat_prefix: name,
    cluster: name,
  };
  return {
    name,
    address: { socket_address: { address, port_value: port } },
    filter_chains: [{ filters: [{ name: "envoy.filters.network.tcp_proxy", typed_config: proxy }] }],
  };
}

function upstreamCluster(
  { edge, hostSuffix }: Targets,
  { name, nodes }: TargetCluster,
  { kind, path }: { readonly kind: string; readonly path: string },
): object {
  return {
    name: `${name}-${kind}`,
    type: "STRICT_DNS",
    connect_timeout: "1s",
    common_lb_config: { healthy_panic_threshold: { value: 0 }, update_merge_window: "0s" },
    close_connections_on_host_health_failure: kind === "write",
    ignore_health_on_host_removal: true,
    health_checks: [
      {
        timeout: "0.9s",
        interval: "1s",
        unhealthy_threshold: 2,
        healthy_threshold: 1,
        no_traffic_interval: "1s",
        unhealthy_edge_interval: "0.25s",
        http_health_check: {
          path,
          host: hostPort(edge),
          expected_statuses: [{ start: 200, end: 201 }],
          retriable_statuses: [{ start: 500, end: 501 }],
        },
      },
    ],
    load_assignment: {
      cluster_name: `${name}-${kind}`,
      endpoints: [
        {
          lb_endpoints: nodes.map((node) => endpoint(node, { edge, suffix: `.${name}${hostSuffix ?? defaultSuffix}` })),
        },
      ],
    },
  };
}

function endpoint(
  node: TargetCluster["nodes"][number],
  { edge, suffix }: { readonly edge: Targets["edge"]; readonly suffix: string },
): object {
  return {
    endpoint: {
      hostname: node.name,
      address: { socket_address: { address: node.database.host, port_value: node.database.port } },
      health_check_config: {
        hostname: `${node.name}${suffix}`,
        address: { socket_address: { address: edge.host, port_value: edge.port } },
      },
    },
  };
}
