import { countText } from "../../../core/health/wording.ts";
import { hostname } from "node:os";
import { stringify } from "yaml";
import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import { isObject, listOf } from "../../../core/cluster/values/json.ts";
import { RolecallClient } from "../../../core/command/client/rolecall-client.ts";
import type { Config } from "../../../core/config/model/config.ts";
import type { RenderContext } from "../../../core/command/render/render-target.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import {
  envoyAddress,
  envoyStatsPort,
  envoyCheckHost,
  envoyChecksListener,
  envoyProxy,
  envoyReadyCheck,
} from "../../../core/command/render/envoy-parts.ts";
import { parseEdges } from "../../../core/command/render/edges.ts";
import { declaredPorts, parseRenderOptions, type RenderOptions } from "../../../core/command/render/options.ts";
import { reachable } from "../../../core/command/render/targets.ts";

/** A pool that Envoy gets by push. */
interface RenderedPool {
  readonly name: string;
  readonly cluster: string;
  /** The check, without a node: `/replica?lag=10MB`. */
  readonly check: string;
}

/** What the bootstrap is made of. */
interface Bootstrap {
  readonly pools: readonly RenderedPool[];
  /** The health listeners of the instances of rolecall. */
  readonly edges: readonly DatabaseAddress[];
  /** The port of the listener with the dialect xds, on each of them. */
  readonly xdsPort: number;
  /** The zone that this Envoy runs in; `null`: none. */
  readonly zone: string | null;
  readonly node: string;
}

const header = `# Rendered by rolecall for Envoy, which gets the endpoints of its pools by push (docs/envoy.md).
# Validate it: envoy --mode validate -c THIS_FILE
# Start it: envoy -c THIS_FILE --service-node NAME, with another NAME for each Envoy that runs this file. rolecall names
# Envoys by it; without it all of them have the name of node.id below.
#
# The endpoints come from the listener of rolecall with the dialect xds. Their health there decides new connections.
# The check of every endpoint only asks about its open sessions (for=sessions). It goes to the listener rolecall-checks
# on this machine, which selects the node by Host, and tries the instances of rolecall, never a node. Only a 503 that
# rolecall has written closes sessions: whatever Envoy itself answers because no rolecall does is a 200 or a 500.
#
# interval: how soon the sessions of an old primary are closed.
# unhealthy_interval: how soon a new primary that was refused while it was promoted gets connections.
# unhealthy_threshold: counts checks without an answer alone. A 503 needs one.
# healthy_panic_threshold 0: with Envoy's default of 50 %, a pool without a healthy endpoint sends to unhealthy ones.
# update_merge_window 0s: the default lets changes of health wait for a second.
# max_connect_attempts: a replica that has just crashed takes no connection, and the next try goes to another one.
# retry_back_off: without it Envoy may be deaf for many seconds after rolecall was restarted.
# connection_keepalive, /readyz: a frozen or blind rolecall is left for another one.
`;

/** How often Envoy asks whether the sessions of an endpoint may live. */
const sessionCheckInterval = "0.1s";
/** How often it asks about one whose sessions could not live: a new primary is such a one while it is promoted. */
const unhealthyCheckInterval = "0.025s";
const http2Options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/**
 * `rolecall render envoy --xds`: Envoy's configuration for the pools of a configuration, or of a running rolecall. No
 * node is probed: endpoints come by push.
 * @throws CommandError (RC001) if there are no pools, or no listeners to get them from
 */
export async function renderEnvoyXds({ command, loadConfig }: RenderContext): Promise<string> {
  const { args, result } = command;
  const options = parseRenderOptions(args);
  const source = loadConfig === null ? await fromServer(command) : fromConfig(await loadConfig());
  const selected = args.text("cluster");
  const pools = source.pools.filter(({ cluster }) => selected === null || cluster === selected);
  if (pools.length === 0)
    throw new CommandError("RC001", "Cannot render for Envoy: pools must have at least one entry (docs/pools.md)");
  const named = parseEdges(args);
  const bootstrap = {
    pools,
    edges: named.length > 0 ? named : source.edges,
    xdsPort: args.integer("xds-port", source.xdsPort, [1, 65_535]),
    zone: options.zone,
    node: hostname(),
  };
  result.cover("clusters", "complete", { detail: countText(pools.length, "pool") });
  return bootstrapText(bootstrap, options);
}

type PoolSource = Pick<Bootstrap, "pools" | "edges" | "xdsPort">;

/** The port of a listener with the dialect xds, if it is not known. */
const defaultXdsPort = 8010;

function fromConfig({ pools, listen }: Config): PoolSource {
  const health = listen.find(
    ({ dialect, node, access }) =>
      dialect === "node" && node === null && access.tls === null && access.auth?.for !== "all",
  );
  const xds = listen.find(({ dialect }) => dialect === "xds");
  return {
    pools: pools.map(({ name, cluster, checkText: check }) => ({ name, cluster, check })),
    edges: [health === undefined ? { host: "127.0.0.1", port: 8008 } : reachable(health)],
    xdsPort: xds?.port ?? defaultXdsPort,
  };
}

async function fromServer(context: CommandContext): Promise<PoolSource> {
  const server = new RolecallClient(context, "admin");
  const pools = listOf((await server.getObject("/pools"))["pools"])
    .filter(isObject)
    .map(({ pool, cluster, check }) => ({ name: String(pool), cluster: String(cluster), check: String(check) }));
  const health = await server.listenerUrl("node");
  const host = new URL(server.url).hostname.replace(/^\[|\]$/g, "");
  return { pools, edges: [{ host, port: Number(health?.port ?? 8008) }], xdsPort: defaultXdsPort };
}

/**
 * Writes the bootstrap.
 * @throws CommandError (RC001) if two listeners would have the same port
 */
export function bootstrapText({ pools, edges, xdsPort, zone, node }: Bootstrap, options: RenderOptions): string {
  const { checkPort } = options;
  const statsPort = envoyStatsPort(options);
  const listening = [...edges, ...edges.map(({ host }) => ({ host, port: xdsPort }))];
  const names = pools.map(({ name }) => name);
  const ports = declaredPorts(names, { ...options, statsPort }, listening);
  const address = options.bind === "*" ? "0.0.0.0" : options.bind;
  const document = {
    node: { id: node, cluster: "rolecall", ...(zone === null ? {} : { locality: { zone } }) },
    admin: { address: envoyAddress("127.0.0.1", statsPort) },
    dynamic_resources: { ads_config: adsConfig },
    static_resources: {
      listeners: [checksListener(checkPort), ...names.map((name, at) => envoyProxy(name, address, ports[at] ?? 0))],
      clusters: [...pools.map((pool) => poolCluster(pool)), xdsCluster(edges, xdsPort), checksCluster(edges)],
    },
  };
  return `${header}${stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

const adsConfig = {
  api_type: "DELTA_GRPC",
  transport_api_version: "V3",
  set_node_on_first_message_only: true,
  grpc_services: [
    {
      envoy_grpc: {
        cluster_name: "rolecall-xds",
        retry_policy: { retry_back_off: { base_interval: "0.1s", max_interval: "1s" } },
      },
    },
  ],
};

function poolCluster({ name, cluster, check }: RenderedPool): object {
  return {
    name,
    type: "EDS",
    eds_cluster_config: { eds_config: { ads: {}, resource_api_version: "V3" } },
    connect_timeout: "1s",
    common_lb_config: { healthy_panic_threshold: { value: 0 }, update_merge_window: "0s" },
    close_connections_on_host_health_failure: true,
    ignore_health_on_host_removal: true,
    health_checks: [
      {
        timeout: "2s",
        interval: sessionCheckInterval,
        unhealthy_interval: unhealthyCheckInterval,
        no_traffic_interval: sessionCheckInterval,
        unhealthy_threshold: 100,
        healthy_threshold: 1,
        http_health_check: {
          path: `/clusters/${cluster}${check}${check.includes("?") ? "&" : "?"}for=sessions`,
          host: "rolecall",
          expected_statuses: [
            { start: 200, end: 503 },
            { start: 504, end: 600 },
          ],
        },
      },
    ],
  };
}

/** The instances of rolecall: one that is not ready, or does not answer, is left for another one. */
function xdsCluster(edges: readonly DatabaseAddress[], port: number): object {
  return {
    name: "rolecall-xds",
    type: "STRICT_DNS",
    dns_lookup_family: "V4_PREFERRED",
    connect_timeout: "0.25s",
    close_connections_on_host_health_failure: true,
    health_checks: [envoyReadyCheck],
    typed_extension_protocol_options: {
      [http2Options]: {
        "@type": `type.googleapis.com/${http2Options}`,
        explicit_http_config: {
          http2_protocol_options: { connection_keepalive: { interval: "1s", timeout: "1s" } },
        },
      },
    },
    load_assignment: {
      cluster_name: "rolecall-xds",
      endpoints: [
        {
          lb_endpoints: edges.map((edge) => ({
            endpoint: { address: envoyAddress(edge.host, port), health_check_config: { port_value: edge.port } },
          })),
        },
      ],
    },
  };
}

function checksCluster(edges: readonly DatabaseAddress[]): object {
  return {
    name: "rolecall-checks",
    type: "STRICT_DNS",
    dns_lookup_family: "V4_PREFERRED",
    connect_timeout: "0.25s",
    common_lb_config: { update_merge_window: "0s" },
    health_checks: [envoyReadyCheck],
    load_assignment: {
      cluster_name: "rolecall-checks",
      endpoints: edges.map(({ host, port }, priority) => ({
        priority,
        lb_endpoints: [{ endpoint: { address: envoyAddress(host, port) } }],
      })),
    },
  };
}

/**
 * The listener that the checks of sessions go to. It gives up before the check does, and answers 200 then: only a 503
 * that rolecall has written may close sessions.
 */
function checksListener(port: number): object {
  const host = envoyCheckHost({
    name: "rolecall",
    domain: "*",
    node: "%REQ(:AUTHORITY)%",
    cluster: "rolecall-checks",
    timeout: "1.5s",
    retries: 3,
  });
  return envoyChecksListener(port, { from: 400, become: 200 }, [host]);
}
