import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Config } from "../../config/model/config.ts";
import { parseDatabaseAddress } from "../../health/check.ts";
import { CommandError } from "../framework/command-error.ts";
import { probeLocally } from "../client/local-probe.ts";
import { isLocal, requireConfig, fetchStatusFrom, type StatusCluster } from "../client/cluster-status.ts";
import { defaultServers, RolecallClient } from "../client/rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** A node that load balancers can send traffic to. */
export interface BackendNode {
  readonly name: string;
  readonly database: DatabaseAddress;
}

/** The addresses that Prometheus scrapes of a node. */
export interface ScrapedNode {
  readonly name: string;
  readonly api: string | null;
  readonly exporter: string | null;
}

/** A cluster to render configuration for. */
export interface TargetCluster {
  readonly name: string;
  readonly scope: string | null;
  readonly nodes: readonly BackendNode[];
  readonly scraped: readonly ScrapedNode[];
}

/** The input of every renderer. */
export interface Targets {
  readonly clusters: readonly TargetCluster[];
  /** Where load balancers reach the health listener of rolecall. */
  readonly edge: DatabaseAddress;
  /** Where Prometheus reaches the metrics of rolecall; `null` if no listener serves them. */
  readonly admin: DatabaseAddress | null;
  readonly hostSuffix: string | null;
}

/** The default port of the health listener. */
const healthPort = Number(new URL(defaultServers.node).port);

/**
 * Names that need no quoting in any format. Nodes with other names are left out: a name must not inject configuration.
 */
const plainName = /^[A-Za-z0-9_.-]{1,128}$/;

/** Collects the targets: from a configuration and one local probe, or from a running rolecall. */
export async function targetsFor(context: CommandContext): Promise<Targets> {
  const edge = addressOption(context, "edge");
  const admin = addressOption(context, "admin");
  if (!isLocal(context)) {
    const server = new RolecallClient(context, "admin");
    const { clusters } = await fetchStatusFrom(server);
    // The server is an admin listener here, which load balancers must not check.
    const host = new URL(server.url).hostname.replace(/^\[|\]$/g, "");
    return {
      clusters: targetClusters(context, clusters),
      edge: edge ?? { host, port: healthPort },
      admin,
      hostSuffix: null,
    };
  }
  const config = requireConfig(context);
  const { clusters } = (await probeLocally(config, context)).overview();
  return targetsOf(context, config, clusters);
}

/** Like {@link targetsFor}, from a configuration and clusters that were probed already. */
export function targetsOf(context: CommandContext, config: Config, clusters: readonly StatusCluster[]): Targets {
  const listenerOf = (dialect: string): DatabaseAddress | null => {
    const listener = config.listen.find(
      (candidate) => candidate.dialect === dialect && (dialect === "admin" || candidate.node === null),
    );
    if (listener === undefined) return null;
    const { address, port } = listener;
    return { host: address === "0.0.0.0" || address === "::" ? "127.0.0.1" : address, port };
  };
  return {
    clusters: targetClusters(context, clusters),
    edge: addressOption(context, "edge") ?? listenerOf("node") ?? { host: "127.0.0.1", port: 8008 },
    admin: addressOption(context, "admin") ?? listenerOf("admin"),
    hostSuffix: config.hostSuffixes[0] ?? null,
  };
}

function targetClusters(
  { args, result }: CommandContext,
  clusters: readonly StatusCluster[],
): readonly TargetCluster[] {
  const selected = args.text("cluster");
  const matching = clusters.filter(({ cluster }) => selected === null || cluster === selected);
  if (matching.length === 0)
    throw new CommandError(
      "RC001",
      `--cluster must be one of ${clusters.map(({ cluster }) => cluster).join(", ")}, got ${JSON.stringify(selected)}`,
    );
  return matching.flatMap(({ cluster, scope, nodes }) => {
    if (!plainName.test(cluster)) {
      result.diagnose("RC120", {
        message: `cluster ${JSON.stringify(cluster)} is left out: its name may only have letters, digits and _ . -`,
      });
      return [];
    }
    const named = nodes.filter(({ node }) => {
      if (!plainName.test(node))
        result.diagnose("RC120", {
          message: `${cluster}/${JSON.stringify(node)} is left out: its name may only have letters, digits and _ . -`,
        });
      return plainName.test(node);
    });
    const targets = named.flatMap(({ node, database }) => {
      const address = database === null ? undefined : parseDatabaseAddress(database);
      if (address === undefined || !/^[\w.:-]+$/.test(address.host)) {
        result.diagnose("RC120", {
          message: `${cluster}/${node} is left out for load balancers: the address of its database is unknown`,
          action: "Set database for the node, or let rolecall discover it.",
        });
        return [];
      }
      return [{ name: node, database: address }];
    });
    const scraped = named.map(({ node, api, exporter }) => ({ name: node, api, exporter }));
    return [{ name: cluster, scope, nodes: targets, scraped }];
  });
}

function addressOption({ args }: CommandContext, option: "edge" | "admin"): DatabaseAddress | null {
  const text = args.text(option);
  if (text === null) return null;
  const address = parseDatabaseAddress(text);
  if (address === undefined)
    throw new CommandError("RC001", `--${option} must be HOST:PORT, got ${JSON.stringify(text)}`);
  return address;
}

/** Formats `host:port`, with brackets around an IPv6 address. */
export function hostPort({ host, port }: DatabaseAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
