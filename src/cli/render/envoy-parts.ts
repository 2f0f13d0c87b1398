/** Envoy's usual port for its admin interface. It has no authentication: on loopback alone. */
export const envoyAdminPort = 9901;

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
    access_log: [{ name: "envoy.access_loggers.stdout", typed_config: { "@type": stdoutLog } }],
  };
  return {
    name,
    address: envoyAddress(address, port),
    filter_chains: [{ filters: [{ name: "envoy.filters.network.tcp_proxy", typed_config: proxy }] }],
  };
}
