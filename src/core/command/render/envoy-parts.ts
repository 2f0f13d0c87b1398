import { CommandError } from "../framework/command-error.ts";
import type { RenderOptions } from "./options.ts";

/** Envoy's usual port for its admin interface. It has no authentication: on loopback alone. */
const envoyAdminPort = 9901;

const connectionManager =
  "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const router = "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router";
const previousPriorities =
  "type.googleapis.com/envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig";
const stdoutLog = "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog";

/** An address as Envoy writes it. */
export function envoyAddress(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

/** A TCP proxy on one port to the cluster of its name, with a line on stdout for each session. */
export function envoyProxy(name: string, address: string, port: number): object {
  const proxy = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
    stat_prefix: name,
    cluster: name,
    // A replica that has just crashed refuses connections, and each try chooses an endpoint anew, in turn with all other
    // sessions: of two endpoints, three tries met the dead one each time in about 6 % of all sessions.
    max_connect_attempts: 10,
    access_log: [{ name: "envoy.access_loggers.stdout", typed_config: { "@type": stdoutLog } }],
  };
  return {
    name,
    address: envoyAddress(address, port),
    filter_chains: [{ filters: [{ name: "envoy.filters.network.tcp_proxy", typed_config: proxy }] }],
  };
}

/** The check whether an instance of rolecall is ready. */
export const envoyReadyCheck = {
  timeout: "0.25s",
  interval: "0.5s",
  unhealthy_threshold: 2,
  healthy_threshold: 2,
  no_traffic_interval: "0.5s",
  http_health_check: { path: "/readyz", host: "rolecall" },
};

/**
 * The listener on 127.0.0.1 that the checks of endpoints go to.
 * @param replies from which status on a reply that Envoy itself makes gets another status, and which one
 */
export function envoyChecksListener(
  port: number,
  replies: { readonly from: number; readonly become: number },
  virtualHosts: readonly object[],
): object {
  const manager = {
    "@type": connectionManager,
    stat_prefix: "rolecall-checks",
    http_filters: [{ name: "envoy.filters.http.router", typed_config: { "@type": router } }],
    local_reply_config: {
      mappers: [
        {
          filter: {
            status_code_filter: {
              comparison: { op: "GE", value: { default_value: replies.from, runtime_key: "rolecall.no_evidence" } },
            },
          },
          status_code: replies.become,
        },
      ],
    },
    route_config: { virtual_hosts: virtualHosts },
  };
  return {
    name: "rolecall-checks",
    address: envoyAddress("127.0.0.1", port),
    filter_chains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }] }],
  };
}

/** Where that listener sends the checks of some Hosts. */
export interface EnvoyCheckRoute {
  readonly name: string;
  readonly domain: string;
  /** The header by which rolecall finds the node. */
  readonly node: string;
  /** The cluster of Envoy: its endpoints are tried by priority. */
  readonly cluster: string;
  readonly timeout: string;
  readonly retries: number;
}

/** Tries the endpoints of a cluster by priority: the next one if a connection fails, after 300 ms, and on 500. */
export function envoyCheckHost({ name, domain, node, cluster, timeout, retries }: EnvoyCheckRoute): object {
  return {
    name,
    domains: [domain],
    request_headers_to_add: [
      { header: { key: "X-Rolecall-Node", value: node }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" },
    ],
    routes: [
      {
        match: { prefix: "/" },
        route: {
          cluster,
          host_rewrite_literal: "rolecall",
          timeout,
          retry_policy: {
            retry_on: "connect-failure,refused-stream,reset,retriable-status-codes",
            retriable_status_codes: [500],
            num_retries: retries,
            per_try_timeout: "0.3s",
            retry_priority: {
              name: "envoy.retry_priorities.previous_priorities",
              typed_config: { "@type": previousPriorities, update_frequency: 1 },
            },
          },
        },
      },
    ],
  };
}

/**
 * The port of Envoy's admin interface.
 * @throws CommandError (RC001) if it is left out: what looks at an Envoy asks there
 */
export function envoyStatsPort({ statsPort }: Pick<RenderOptions, "statsPort">): number {
  if (statsPort === "none")
    throw new CommandError("RC001", '--stats-port must be a port for envoy, got "none": rolecall asks Envoy there');
  return statsPort ?? envoyAdminPort;
}
