import { unknownNameError } from "../client/node-name.ts";
import type { DatabaseAddress } from "../../cluster/node.ts";
import type { ClusterConfig, Config } from "../../config/model/config.ts";
import { balancedCheckText } from "../../config/values/pool-check.ts";
import { oneNodeRoutes } from "../../health/route.ts";
import { parseDatabaseAddress } from "../../health/check.ts";
import type { KnownClusters } from "../client/remembered-members.ts";
import { fetchStatusFrom, type StatusCluster } from "../client/cluster-status.ts";
import { RolecallClient } from "../client/rolecall-client.ts";
import { defaultServers } from "../connect/listener-finder.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { hostPort, isRenderableHost, parseAdmins, parseEdges } from "./edges.ts";
import { isSilent, memberSummary } from "./member-summary.ts";

/** A node that load balancers can send traffic to. */
export interface BackendNode {
  readonly name: string;
  readonly database: DatabaseAddress;
  /** Its own API, which load balancers check while no rolecall answers; `null` if it has none that they can check. */
  readonly api: CheckedApi | null;
  /** `null`: not known. */
  readonly zone: string | null;
}

/** Where load balancers check a node directly. */
export interface CheckedApi extends DatabaseAddress {
  readonly isTls: boolean;
}

/** A listener that serves the metrics of rolecall. */
export interface MetricsAddress extends DatabaseAddress {
  readonly isTls: boolean;
  /** Whether requests need a password, a token or a client certificate. */
  readonly needsCredentials: boolean;
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
  readonly nodes: readonly BackendNode[];
  /** How many members are known, with those that are left out. */
  readonly members: number;
  /** Why members are left out of every file, one sentence each. */
  readonly unnamed: readonly string[];
  /** Why members are left out for load balancers. */
  readonly unbalanced: readonly string[];
  /** Why members are left out for rolecall and Prometheus. */
  readonly unscraped: readonly string[];
  readonly scraped: readonly ScrapedNode[];
  /** How many members it has, and which of them do not answer now: one sentence. */
  readonly summary: string;
  /** How many members do not answer now. */
  readonly silent: number;
  /** The file of the CA that signs the certificates of the nodes' APIs; `null`: the CAs of the system. */
  readonly ca: string | null;
}

/** A pool that the configuration declares. */
export interface TargetPool {
  readonly name: string;
  readonly cluster: string;
  /** The check without a node. */
  readonly check: string;
  /** The same as HAProxy sends it. */
  readonly balancedCheck: string;
  /** Whether at most one node is fit. */
  readonly isOfPrimary: boolean;
  /** Whether the weights of its servers follow lag. */
  readonly isWeighted: boolean;
}

/** The input of every renderer. */
export interface Targets {
  readonly clusters: readonly TargetCluster[];
  /** Those of the rendered clusters; `null`: the configuration declares none, or is not known. */
  readonly pools: readonly TargetPool[] | null;
  /** Who named the members: one sentence. */
  readonly memberSource: string;
  /** Where load balancers reach the health listeners of rolecall, in the order in which they try them: at least one. */
  readonly edges: readonly DatabaseAddress[];
  /** Why load balancers cannot use the edges, or `null`. */
  readonly edgeProblem: string | null;
  /** Where Prometheus reaches the metrics of each rolecall; empty if no listener is known to serve them. */
  readonly admins: readonly MetricsAddress[];
  /** The admin listener of the configuration that takes hints; `null` if there is no configuration or no such one. */
  readonly hintListener: HintListener | null;
}

/** An admin listener as the target of hints. */
interface HintListener {
  readonly url: string;
  readonly hasTokens: boolean;
  /** The clusters that it has `before_stop_tokens` for. */
  readonly mayHold: readonly string[];
}

/** The default port of the health listener. */
const healthPort = Number(new URL(defaultServers.node).port);

/**
 * Names that need no quoting in any format, and are no relative segment of a path. Nodes with other names are left out:
 * a name must not inject configuration.
 */
const plainName = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,128}$/;

const plainNameAllowed = "its name may only have letters, digits and _ . -, and not be . or ..";

/** Collects the targets from the running rolecall that the command line names. */
export async function targetsFromServer(context: CommandContext): Promise<Targets> {
  const edges = parseEdges(context.args);
  const server = new RolecallClient(context, "admin");
  const { clusters } = await fetchStatusFrom(server);
  // The server is an admin listener here, which load balancers must not check.
  const health = edges.length > 0 ? null : await server.listenerUrl("node");
  const host = new URL(server.url).hostname.replace(/^\[|\]$/g, "");
  return {
    clusters: targetClusters(context, clusters, () => undefined),
    pools: null,
    memberSource: runningSource,
    edges: edges.length > 0 ? edges : [{ host, port: health === null ? healthPort : Number(health.port) }],
    edgeProblem: edges.length > 0 || health !== null ? null : unknownListener(server.url),
    admins: adminsOf(context, null),
    hintListener: null,
  };
}

const runningSource = "The members are those that the running rolecall knows.";

/** Collects the targets from a configuration, and from clusters that are known already. */
export function targetsOf(context: CommandContext, config: Config, { clusters, by, problem }: KnownClusters): Targets {
  const admin = config.listen.find(({ dialect }) => dialect === "admin");
  const configured = (name: string): ClusterConfig | undefined =>
    config.clusters.find((cluster) => cluster.name === name);
  const rendered = targetClusters(context, clusters, configured);
  const edges = parseEdges(context.args);
  const health = healthListener(config, rendered);
  return {
    clusters: rendered,
    pools: config.pools.length === 0 ? null : targetPools(context, config.pools, rendered),
    memberSource: by === null ? probedSource(problem) : runningSource,
    edges: edges.length > 0 ? edges : [health === null ? { host: "127.0.0.1", port: healthPort } : reachable(health)],
    edgeProblem: edges.length > 0 || health !== null ? null : unusableListeners,
    admins: adminsOf(context, admin ?? null),
    hintListener: hintListenerOf(config),
  };
}

function probedSource(problem: string | null): string {
  const why = problem === null ? "no rolecall of this configuration runs here" : problem;
  return `The members are those of one probe (${why}): one that no node lists any more is missing.`;
}

function unknownListener(server: string): string {
  return `${server} must name a health listener (dialect: node) that is open at that address, or --edge must name one`;
}

const unusableListeners =
  "The configuration must have a health listener (dialect: node) that answers for all rendered clusters, without " +
  "node, TLS and passwords, or --edge must name one";

type ListenerConfig = Config["listen"][number];

/** Returns the first health listener that load balancers can check for all rendered clusters, or `null`. */
function healthListener({ listen }: Config, clusters: readonly TargetCluster[]): ListenerConfig | null {
  const usable = listen.find(
    ({ dialect, node, cluster, access }) =>
      dialect === "node" &&
      node === null &&
      clusters.every(({ name }) => cluster === null || cluster === name) &&
      access.tls === null &&
      access.auth?.for !== "all",
  );
  return usable ?? null;
}

/** Returns the first admin listener with hint tokens, else the first one. */
function hintListenerOf({ listen }: Config): HintListener | null {
  const admin = listen.filter(({ dialect }) => dialect === "admin");
  const chosen = admin.find(({ access }) => access.hintTokens.length > 0) ?? admin[0];
  if (chosen === undefined) return null;
  const scheme = chosen.access.tls === null ? "http" : "https";
  const { hintTokens, beforeStopTokens } = chosen.access;
  return {
    url: `${scheme}://${hostPort(reachable(chosen))}`,
    hasTokens: hintTokens.length > 0,
    mayHold: beforeStopTokens.map(({ cluster }) => cluster),
  };
}

/** A listener on all addresses is reached on loopback; one on any free port has the default port here. */
export function reachable({ address, port }: ListenerConfig): DatabaseAddress {
  const host = address === "0.0.0.0" || address === "::" ? "127.0.0.1" : address;
  return { host, port: port === 0 ? healthPort : port };
}

function targetClusters(
  { args, result }: CommandContext,
  clusters: readonly StatusCluster[],
  configured: (cluster: string) => ClusterConfig | undefined,
): readonly TargetCluster[] {
  const selected = args.text("cluster");
  const matching = clusters.filter(({ cluster }) => selected === null || cluster === selected);
  if (matching.length === 0)
    throw unknownNameError(
      "--cluster",
      clusters.map(({ cluster }) => cluster),
      selected ?? "",
    );
  const leaveOut = (message: string, action?: string): string => {
    result.diagnose("RC120", { message, ...(action === undefined ? {} : { action }) });
    return message;
  };
  return matching.flatMap(({ cluster, nodes }) => {
    if (!plainName.test(cluster)) {
      result.diagnose("RC120", {
        message: `cluster ${JSON.stringify(cluster)} is left out: ${plainNameAllowed}`,
      });
      return [];
    }
    const named = nodes.filter(({ node }) => plainName.test(node));
    const unnamed = nodes
      .filter(({ node }) => !plainName.test(node))
      .map(({ node }) => leaveOut(`${cluster}/${JSON.stringify(node)} is left out: ${plainNameAllowed}`));
    const unbalanced: string[] = [];
    const unscraped: string[] = [];
    const targets = named.flatMap(({ node, database, api, zone }) => {
      const address = database === null ? undefined : parseDatabaseAddress(database);
      if (address === undefined || !isRenderableHost(address.host)) {
        const [problem, action] =
          address === undefined
            ? ["the address of its database is unknown", "Set database for the node, or let rolecall discover it."]
            : [
                `${JSON.stringify(address.host)} is no host name`,
                "Correct postgresql.connect_address of the node, or set database for it.",
              ];
        unbalanced.push(leaveOut(`${cluster}/${node} is left out for load balancers: ${problem}`, action));
        return [];
      }
      return [{ name: node, database: address, api: nodeApi(api), zone }];
    });
    const scraped = named.flatMap(({ node, api, exporter }) => {
      const odd = [api, exporter].find((url) => url !== null && addressOf(url) === null);
      if (odd === undefined) return [{ name: node, api, exporter }];
      unscraped.push(`${cluster}/${node} is left out for probes: ${JSON.stringify(odd)} has no valid host`);
      return [];
    });
    const lists = { unnamed, unbalanced, unscraped, scraped };
    const known = { members: nodes.length, silent: nodes.filter(isSilent).length };
    const summary = memberSummary(cluster, nodes);
    const ca = configured(cluster)?.tls?.ca ?? null;
    return [{ name: cluster, nodes: targets, ...known, ...lists, summary, ca }];
  });
}

function targetPools(
  { result }: CommandContext,
  pools: Config["pools"],
  clusters: readonly TargetCluster[],
): readonly TargetPool[] {
  return pools.flatMap(({ name, cluster, check, checkText, weight }) => {
    if (clusters.every((rendered) => rendered.name !== cluster)) return [];
    if (!plainName.test(name)) {
      result.diagnose("RC120", { message: `pool ${JSON.stringify(name)} is left out: ${plainNameAllowed}` });
      return [];
    }
    const balancedCheck = balancedCheckText(checkText, check.route);
    const isOfPrimary = oneNodeRoutes.has(check.route);
    return [{ name, cluster, check: checkText, balancedCheck, isOfPrimary, isWeighted: weight !== null }];
  });
}

function nodeApi(api: string | null): CheckedApi | null {
  return api === null ? null : addressOf(api);
}

/** Reads the base address of an API or an exporter. @returns `null` if other programs cannot read its host */
function addressOf(url: string): CheckedApi | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port } = new URL(url);
  const isTls = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  if (!isRenderableHost(host)) return null;
  return { host, port: port === "" ? (isTls ? 443 : 80) : Number(port), isTls };
}

/** The instances that `--admin` names, else the admin listener of the configuration, whose access all of them have. */
function adminsOf({ args }: CommandContext, listener: ListenerConfig | null): readonly MetricsAddress[] {
  const access = {
    isTls: listener !== null && listener.access.tls !== null,
    needsCredentials:
      listener !== null && (listener.access.auth?.for === "all" || listener.access.tls?.client === "required"),
  };
  const named = parseAdmins(args);
  const addresses = named.length > 0 ? named : listener === null ? [] : [reachable(listener)];
  return addresses.map((address) => ({ ...address, ...access }));
}
