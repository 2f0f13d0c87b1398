import type { DatabaseAddress } from "../../core/cluster/node.ts";
import {
  envoyAddress,
  envoyCheckHost,
  envoyChecksListener,
  envoyReadyCheck,
} from "../../core/command/render/envoy-parts.ts";
import type { BackendNode, CheckedApi, TargetCluster } from "../../core/command/render/targets.ts";
import { isName } from "../../core/command/render/resolving.ts";

const upstreamTls = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

/** The certificates of the system's CAs on Debian and its relatives. */
const systemCa = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Returns the Host by which a check of an endpoint selects the node at the listener of the checks. Envoy compares
 * domains in lower case and refuses a file in which two are equal. Names of nodes may differ in case only, and `a.b` of
 * `c` reads like `a` of `b.c`: names with upper-case letters or dots have their bytes added.
 */
export function checkHostname(cluster: string, node: string): string {
  const name = `${node}.${cluster}`;
  const isDistinct = name === name.toLowerCase() && !node.includes(".");
  const bytes = Buffer.from(`${cluster}/${node}`).toString("hex");
  return `${name.toLowerCase()}${isDistinct ? "" : `.${bytes}`}.rolecall.internal`;
}

/**
 * Renders the listener that the checks go to. For each node it tries the instances of rolecall in order, then the
 * node's own API: at once if a connection is refused or reset, after 300 ms without an answer, and on 500 (an instance
 * that reaches no node). Only if all of them fail, Envoy answers 500, which counts to the threshold: its own 503 would
 * eject the endpoint at once.
 */
export function checkListener(clusters: readonly TargetCluster[], port: number): object {
  const hosts = clusters.flatMap((cluster) => cluster.nodes.map((node) => virtualHost(cluster, node)));
  return envoyChecksListener(port, { from: 501, become: 500 }, hosts);
}

function virtualHost(cluster: TargetCluster, node: BackendNode): object {
  const name = checkClusterName(cluster, node);
  return envoyCheckHost({
    name,
    domain: checkHostname(cluster.name, node.name),
    node: `${cluster.name}/${node.name}`,
    cluster: name,
    timeout: "1.8s",
    retries: 4,
  });
}

/**
 * Renders the clusters of the checks, one for each node: the instances of rolecall by priority, then the node's own
 * API, which is not checked itself.
 */
export function checkClustersOf(cluster: TargetCluster, edges: readonly DatabaseAddress[]): readonly object[] {
  return cluster.nodes.map((node) => {
    const levels = [...edges.map((edge) => endpoint(edge)), ...(node.api === null ? [] : [apiEndpoint(node.api)])];
    return {
      name: checkClusterName(cluster, node),
      type: "STRICT_DNS",
      dns_lookup_family: "V4_PREFERRED",
      connect_timeout: "0.25s",
      common_lb_config: { healthy_panic_threshold: { value: 0 }, update_merge_window: "0s" },
      health_checks: [envoyReadyCheck],
      ...(node.api?.isTls === true ? { transport_socket_matches: [tlsMatch(node.api, cluster.ca)] } : {}),
      load_assignment: {
        cluster_name: checkClusterName(cluster, node),
        endpoints: levels.map((level, priority) => ({ priority, lb_endpoints: [level] })),
      },
    };
  });
}

function endpoint({ host, port }: DatabaseAddress): object {
  return { endpoint: { address: envoyAddress(host, port) } };
}

function apiEndpoint(api: CheckedApi): object {
  const address = envoyAddress(api.host, api.port);
  return {
    endpoint: { address, health_check_config: { disable_active_health_check: true } },
    ...(api.isTls ? { metadata: { filter_metadata: { "envoy.transport_socket_match": { tls: true } } } } : {}),
  };
}

/** Certificates of nodes are verified as rolecall verifies them: their CA, and their name or IP address. */
function tlsMatch(api: CheckedApi, ca: string | null): object {
  const hasName = isName(api.host);
  return {
    name: "tls",
    match: { tls: true },
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: {
        "@type": upstreamTls,
        ...(hasName ? { sni: api.host } : {}),
        common_tls_context: {
          validation_context: {
            trusted_ca: { filename: ca ?? systemCa },
            match_typed_subject_alt_names: [{ san_type: hasName ? "DNS" : "IP_ADDRESS", matcher: { exact: api.host } }],
          },
        },
      },
    },
  };
}

function checkClusterName({ name }: TargetCluster, node: BackendNode): string {
  return `rolecall/${name}/${node.name}`;
}
