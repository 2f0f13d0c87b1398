import { stringify } from "yaml";
import { envoyAddress, envoyProxy, envoyStatsPort } from "../../core/command/render/envoy-parts.ts";
import { checkClustersOf, checkHostname, checkListener } from "./envoy-checks.ts";
import { declaredPorts, portsOf, readCheck, type RenderOptions } from "../../core/command/render/options.ts";
import { commentLines, headComments } from "../../core/command/render/member-comments.ts";
import { type TargetCluster, type Targets } from "../../core/command/render/targets.ts";

const header = `# Rendered by rolecall for Envoy. Validate it: envoy --mode validate -c THIS_FILE
#
# The checks of every endpoint go to the listener rolecall-checks on this machine: Envoy sends all checks of a cluster
# with one path, and to an IP address only. That listener selects the node by Host, adds X-Rolecall-Node, and sends the
# check to the first instance of rolecall that is ready. If none is, the node's own API answers.
#
# expected_statuses, retriable_statuses: a 503 (a no) ejects at once; a 500 (no evidence) counts to unhealthy_threshold:
#   unhealthy_threshold x interval is 2 s.
# interval, unhealthy_interval: checks are cheap, because rolecall answers them from memory.
# healthy_threshold 3: two unhealthy_interval are as long as interval: an old primary is out before the new one is in.
# healthy_panic_threshold 0: a write pool has one healthy endpoint of three. With Envoy's default of 50 % it would send
#   writes to replicas.
# no_traffic_interval: the default is 60 s.
# close_connections_on_host_health_failure: closes the sessions of an old primary.
# max_connect_attempts: a replica that has just crashed takes no connection, and the next try goes to another one.
# access_log: one line on stdout for each session, none for checks.
`;

/**
 * Renders a static Envoy configuration (docs/envoy.md). An instance of rolecall that is restarted,
 * killed or frozen ejects no endpoint: see {@link checkListener}.
 * @throws CommandError (RC001) if two listeners would have the same port
 */
export function renderEnvoy(targets: Targets, given: RenderOptions): string {
  const statsPort = envoyStatsPort(given);
  const options = { ...given, statsPort };
  const clusters = targets.clusters.filter(({ nodes }) => nodes.length > 0);
  const pools = envoyPools({ ...targets, clusters }, options);
  const address = options.bind === "*" ? "0.0.0.0" : options.bind;
  const document = {
    admin: { address: envoyAddress("127.0.0.1", statsPort) },
    static_resources: {
      listeners: [
        checkListener(clusters, options.checkPort),
        ...pools.map(({ name, port }) => envoyProxy(name, address, port)),
      ],
      clusters: [
        ...pools.map((pool) => upstreamCluster(pool, options.checkPort)),
        ...clusters.flatMap((cluster) => checkClustersOf(cluster, targets.edges)),
      ],
    },
  };
  const leftOut = targets.clusters.flatMap(({ unnamed, unbalanced }) => [...unnamed, ...unbalanced]);
  const comments = [...headComments(targets), ...commentLines(leftOut)].map((line) => `${line}\n`);
  return `${header}${comments.join("")}${stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

/** A pool, and its cluster in Envoy. */
interface EnvoyPool {
  readonly name: string;
  readonly cluster: TargetCluster;
  /** Whether at most one node is fit. */
  readonly isOfPrimary: boolean;
  readonly path: string;
  readonly port: number;
}

/** The pools of the configuration, else `C-write` and `C-read` of each cluster. */
function envoyPools({ clusters, edges, pools }: Targets, options: RenderOptions): readonly EnvoyPool[] {
  if (pools === null) {
    const names = clusters.map(({ name }) => name);
    const ports = portsOf(names, options, edges);
    return clusters.flatMap((cluster, at) => {
      const { write = 0, read = 0 } = ports[at] ?? {};
      const name = (kind: string): string => `${cluster.name}-${kind}`;
      return [
        { name: name("write"), cluster, isOfPrimary: true, path: "/primary", port: write },
        { name: name("read"), cluster, isOfPrimary: false, path: readCheck(options), port: read },
      ];
    });
  }
  const declared = pools.flatMap(({ name, cluster: of, check: path, isOfPrimary }) => {
    const cluster = clusters.find((one) => one.name === of);
    return cluster === undefined ? [] : [{ name, cluster, isOfPrimary, path }];
  });
  const names = declared.map(({ name }) => name);
  const ports = declaredPorts(names, options, edges);
  return declared.map((pool, at) => ({ ...pool, port: ports[at] ?? 0 }));
}

function upstreamCluster(
  { name: pool, cluster: { name, nodes }, isOfPrimary, path }: EnvoyPool,
  checkPort: number,
): object {
  return {
    name: pool,
    type: "STRICT_DNS",
    dns_lookup_family: "V4_PREFERRED",
    connect_timeout: "1s",
    common_lb_config: { healthy_panic_threshold: { value: 0 }, update_merge_window: "0s" },
    close_connections_on_host_health_failure: isOfPrimary,
    ignore_health_on_host_removal: true,
    health_checks: [
      {
        timeout: "2s",
        interval: "0.2s",
        unhealthy_interval: "0.1s",
        unhealthy_threshold: 10,
        healthy_threshold: 3,
        no_traffic_interval: "0.2s",
        http_health_check: {
          path,
          host: "rolecall",
          expected_statuses: [{ start: 200, end: 201 }],
          retriable_statuses: [{ start: 500, end: 501 }],
        },
      },
    ],
    load_assignment: {
      cluster_name: pool,
      endpoints: [
        {
          lb_endpoints: nodes.map((node) => ({
            endpoint: {
              hostname: node.name,
              address: envoyAddress(node.database.host, node.database.port),
              health_check_config: {
                hostname: checkHostname(name, node.name),
                address: envoyAddress("127.0.0.1", checkPort),
              },
            },
          })),
        },
      ],
    },
  };
}
