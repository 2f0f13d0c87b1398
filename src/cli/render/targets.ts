import type { DatabaseAddress } from "../../cluster/node.ts";
import type { Config } from "../../config/model/config.ts";
import { parseDatabaseAddress } from "../../health/check.ts";
import { CommandError } from "../framework/command.ts";
import { probeOnce } from "../client/probe-once.ts";
import { isLocal, requireConfig, fetchStatusFrom, type StatusCluster } from "../client/cluster-status.ts";
import { defaultServers, Server } from "../client/server.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** A node that balancers can send traffic to. */
export interface TargetNode {
  readonly name: string;
  readonly database: DatabaseAddress;
}

/** A node as Prometheus reaches it. */
export interface ScrapedNode {
  readonly name: string;
  readonly api: string | null;
  readonly exporter: string | null;
}

export interface TargetCluster {
  readonly name: string;
  readonly scope: string | null;
  readonly nodes: readonly TargetNode[];
  readonly scraped: readonly ScrapedNode[];
}

/** What configuration is rendered for. */
export interface Targets {
  readonly clusters: readonly TargetCluster[];
  /** Where balancers reach rolecall's health checks. */
  readonly edge: DatabaseAddress;
  /** Where Prometheus reaches rolecall's metrics; `null` where no listener has them. */
  readonly admin: DatabaseAddress | null;
  readonly hostSuffix: string | null;
}

/** Where health checks are answered when nothing is said. */
const healthPort = Number(new URL(defaultServers.node).port);

/** Names that need no quoting in any of the formats; others are left out, or a name could write configuration of its own. */
const plainName = /^[A-Za-z0-9_.-]{1,128}$/;

/** Finds what configuration is to be rendered for: by the configuration and one probing, or as a running rolecall sees it. */
export async function targetsFor(context: CommandContext): Promise<Targets> {
  const { args } = context;
  const edge = addressIn(context, "edge");
  const admin = addressIn(context, "admin");
  if (!isLocal(context)) {
    const { clusters } = await fetchStatusFrom(new Server(context, "admin"));
    // What was asked is an admin listener: balancers are not to check there.
    const host = new URL(args.text("server") ?? defaultServers.admin).hostname.replace(/^\[|\]$/g, "");
    return {
      clusters: targetClusters(context, clusters),
      edge: edge ?? { host, port: healthPort },
      admin,
      hostSuffix: null,
    };
  }
  const config = requireConfig(context);
  const { clusters } = (await probeOnce(config, context)).overview();
  return targetsOf(context, config, clusters);
}

/** As {@link targetsFor}, from what is known already. */
export function targetsOf(context: CommandContext, config: Config, clusters: readonly StatusCluster[]): Targets {
  const doorOf = (dialect: string): DatabaseAddress | null => {
    const listener = config.listen.find(
      (candidate) => candidate.dialect === dialect && (dialect === "admin" || candidate.node === null),
    );
    if (listener === undefined) return null;
    const { address, port } = listener;
    return { host: address === "0.0.0.0" || address === "::" ? "127.0.0.1" : address, port };
  };
  return {
    clusters: targetClusters(context, clusters),
    edge: addressIn(context, "edge") ?? doorOf("node") ?? { host: "127.0.0.1", port: 8008 },
    admin: addressIn(context, "admin") ?? doorOf("admin"),
    hostSuffix: config.hostSuffixes[0] ?? null,
  };
}

function targetClusters(
  { args, result }: CommandContext,
  clusters: readonly StatusCluster[],
): readonly TargetCluster[] {
  const wanted = args.text("cluster");
  const chosen = clusters.filter(({ cluster }) => wanted === null || cluster === wanted);
  if (chosen.length === 0)
    throw new CommandError(
      "RC001",
      `--cluster must be one of ${clusters.map(({ cluster }) => cluster).join(", ")}: it is ${JSON.stringify(wanted)}`,
    );
  return chosen.flatMap(({ cluster, scope, nodes }) => {
    if (!plainName.test(cluster)) {
      result.diagnose("RC120", {
        message: `cluster ${JSON.stringify(cluster)} is left out: its name has other characters than letters, digits, _ . -`,
      });
      return [];
    }
    const named = nodes.filter(({ node }) => {
      if (!plainName.test(node))
        result.diagnose("RC120", {
          message: `${cluster}/${JSON.stringify(node)} is left out: its name has other characters than letters, digits, _ . -`,
        });
      return plainName.test(node);
    });
    const targets = named.flatMap(({ node, database }) => {
      const address = database === null ? undefined : parseDatabaseAddress(database);
      if (address === undefined || !/^[\w.:-]+$/.test(address.host)) {
        result.diagnose("RC120", {
          message: `${cluster}/${node} is left out for balancers: the address of its database is not known`,
          action: "Set database of the node, or let it be discovered.",
        });
        return [];
      }
      return [{ name: node, database: address }];
    });
    const scraped = named.map(({ node, api, exporter }) => ({ name: node, api, exporter }));
    return [{ name: cluster, scope, nodes: targets, scraped }];
  });
}

function addressIn({ args }: CommandContext, option: "edge" | "admin"): DatabaseAddress | null {
  const text = args.text(option);
  if (text === null) return null;
  const address = parseDatabaseAddress(text);
  if (address === undefined)
    throw new CommandError("RC001", `--${option} must be HOST:PORT: it is ${JSON.stringify(text)}`);
  return address;
}

/** `host:port`, with brackets around an IPv6 address. */
export function hostPort({ host, port }: DatabaseAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
