import type { Config } from "../../config/model/config.ts";
import type { StateOverview } from "../../http/diagnostics/config-overview.ts";
import { formatHostPort } from "../../config/values/address.ts";
import { Arguments } from "../framework/arguments.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";
import { ResultBuilder } from "../result/builder.ts";
import { fetchStatusFrom, type StatusCluster, type StatusNode } from "./cluster-status.ts";
import { RolecallClient } from "./rolecall-client.ts";

/** Clusters with their members, and who knows them. */
export interface KnownClusters {
  readonly clusters: readonly StatusCluster[];
  /** What the running rolecall knows; empty if none answered. */
  readonly running: readonly StatusCluster[];
  /** The running rolecall that was asked for its members too, or `null` if none answered. */
  readonly by: string | null;
  /** A client of it; `null` if none answered. */
  readonly server: RolecallClient | null;
  /** Where it keeps its state; `null` if it does not say. */
  readonly state: StateOverview | null;
  /** Why a rolecall that runs could not be asked; `null` if it was, or if none runs. */
  readonly problem: string | null;
}

/** Why the running rolecall cannot be asked. */
export function notAsked({ problem }: Pick<KnownClusters, "problem">): string {
  return problem ?? "no running rolecall answered";
}

/**
 * Adds the members that the running rolecall of a configuration knows to those that a probe has found: a member that
 * is down for longer than the ttl of its cluster is in no member list any more, and only a process that saw it before
 * remembers it. The rolecall is asked at a listener of the configuration.
 * @param probed the clusters as this process has probed them
 */
export async function withRememberedMembers(
  context: CommandContext,
  config: Config,
  probed: readonly StatusCluster[],
): Promise<KnownClusters> {
  const url = serverUrl(config);
  const notAnswered = { clusters: probed, running: [], by: null, server: null, state: null };
  if (url === null) return { ...notAnswered, problem: null };
  const server = new RolecallClient(askingAt(context, url), "admin", "2s");
  try {
    const { by, config: loaded, clusters } = await fetchStatusFrom(server);
    return {
      clusters: probed.map((cluster) => mergedCluster(cluster, clusters, seedsOf(config, cluster.cluster))),
      running: clusters,
      by,
      server,
      state: loaded?.state ?? null,
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const isRefused = error.rule === "RC005" && error.message.includes("ECONNREFUSED");
    return { ...notAnswered, problem: isRefused ? null : error.message };
  }
}

/** Where the rolecall of a configuration is asked on this machine: the client finds the admin listener from any other. */
function serverUrl({ listen }: Config): string | null {
  const open = listen.filter(({ port }) => port !== 0);
  const server = open.find(({ dialect }) => dialect === "admin") ?? open.find(({ dialect }) => dialect === "node");
  if (server === undefined) return null;
  const { address, port, access } = server;
  const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `${access.tls === null ? "http" : "https"}://${formatHostPort({ host, port })}`;
}

/** The context of a command that asks this server; its credentials stay. What the search finds wrong is no finding. */
function askingAt(context: CommandContext, url: string): CommandContext {
  const values = new Map(
    ["token-file", "user-file", "ca", "cert", "key", "timeout"].map((name) => [name, context.args.list(name)]),
  );
  const flags = new Set(context.args.has("insecure") ? ["insecure"] : []);
  return {
    ...context,
    args: new Arguments([], values.set("server", [url]), flags),
    result: new ResultBuilder({ version: "", command: "" }, []),
  };
}

/** A cluster with the members of the running rolecall, in its order, then those that only the probe has found. */
function mergedCluster(
  probed: StatusCluster,
  running: readonly StatusCluster[],
  seeds: ReadonlySet<string>,
): StatusCluster {
  const remembered = running.find((candidate) => isSameCluster(probed, candidate, seeds));
  if (remembered === undefined) return probed;
  const byName = new Map(probed.nodes.map((node) => [node.node, node]));
  const known = new Set(remembered.nodes.map(({ node }) => node));
  return {
    ...probed,
    scope: probed.scope ?? remembered.scope,
    nodes: [
      ...remembered.nodes.map((node) => mergedNode(byName.get(node.node), node)),
      ...probed.nodes.filter(({ node }) => !known.has(node)),
    ],
  };
}

/**
 * Another rolecall may use the address of this configuration, and have a cluster of the same name. Both must know one
 * node by its address too: a member that the probe has found, or a seed.
 */
function isSameCluster(probed: StatusCluster, candidate: StatusCluster, seeds: ReadonlySet<string>): boolean {
  if (probed.cluster !== candidate.cluster) return false;
  if (probed.scope !== null && candidate.scope !== null && probed.scope !== candidate.scope) return false;
  const apis = new Map(candidate.nodes.map(({ node, api, exporter }) => [node, api ?? exporter]));
  return (
    probed.nodes.some(({ node, api, exporter }) => apis.get(node) === (api ?? exporter)) ||
    candidate.nodes.some(({ api }) => api !== null && seeds.has(originOf(api)))
  );
}

function seedsOf({ clusters }: Config, name: string): ReadonlySet<string> {
  return new Set(clusters.find((cluster) => cluster.name === name)?.discover.map(originOf));
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

function mergedNode(probed: StatusNode | undefined, remembered: StatusNode): StatusNode {
  if (probed === undefined) return remembered;
  return {
    ...probed,
    api: probed.api ?? remembered.api,
    exporter: probed.exporter ?? remembered.exporter,
    database: probed.database ?? remembered.database,
  };
}
