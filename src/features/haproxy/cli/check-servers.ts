import { countText } from "../../../core/health/wording.ts";
import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import { readRegularFile } from "../../../core/files/regular-file.ts";
import { parseDatabaseAddress } from "../../../core/health/check.ts";
import { bareHost, isDifferentAddress } from "../../../core/health/evidence/node/identity.ts";
import type { StatusCluster, StatusNode } from "../../../core/command/client/cluster-status.ts";
import { hostPort } from "../../../core/command/render/edges.ts";
import { sectionsOf, type HaproxySection } from "../../../core/balancing/haproxy-sections.ts";
import type { KnownClusters } from "../../../core/command/client/remembered-members.ts";
import type { DoctorContext } from "../../../core/command/doctor/doctor-context.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";
import type { RuleId } from "../../../core/command/result/rule-ids.ts";

/** What is wrong with the servers of an haproxy.cfg. */
interface ServerFinding {
  readonly rule: RuleId & ("RC128" | "RC129" | "RC130");
  readonly message: string;
  /** The line of the server; `null` if it is missing. */
  readonly line: number | null;
}

/** The longest range of a `server-template` that is read. */
const templateMax = 1_000;

/**
 * Compares the servers of `--haproxy-config` with the members of the clusters: members without a server (RC128),
 * servers that are no member (RC129), and addresses that differ (RC130).
 */
export function checkHaproxyServers(
  { command: { args, result } }: Pick<DoctorContext, "command">,
  { clusters }: Pick<KnownClusters, "clusters">,
): void {
  const file = args.text("haproxy-config");
  if (file === null) return;
  let text: string;
  try {
    text = readRegularFile(file);
  } catch (error) {
    result.diagnose("RC006", { message: `Cannot read --haproxy-config: ${errorMessage(error)}`, incomplete: true });
    return;
  }
  const selected = args.text("cluster");
  const members = clusters.filter(({ cluster }) => selected === null || cluster === selected);
  const { findings, backends, uncompared } = compareServers(text, members);
  for (const { rule, message, line } of findings)
    result.diagnose(rule, { message, location: { file, kind: "source", ...(line === null ? {} : { line }) } });
  const detail = `${countText(backends, "backend")} with members in ${file}${uncomparedText(uncompared)}`;
  result.cover("haproxy_config", "complete", { detail });
}

/** How many servers of members may lead elsewhere, as the file and the members' addresses do not say where they lead. */
interface Uncompared {
  /** At the member's host with a port that is nobody's, as that of a pooler is, or with none. */
  readonly ports: number;
  /** At a name where the member's address is known as a number or the reverse, or at what the file does not say. */
  readonly addresses: number;
}

/** What the coverage says of servers that were not compared; empty if all were. */
export function uncomparedText({ ports, addresses }: Uncompared): string {
  const parts = [
    ...(ports === 0 ? [] : [`the port${ports === 1 ? "" : "s"} of ${countText(ports, "server")}`]),
    ...(addresses === 0
      ? []
      : [
          `the address${addresses === 1 ? "" : "es"} of ${ports === 0 ? countText(addresses, "server") : String(addresses)}`,
        ]),
  ];
  return parts.length === 0 ? "" : `; not compared: ${parts.join(" and ")}`;
}

/**
 * Compares the servers of an haproxy.cfg with members. A backend is one of the cluster that its checks name, else of
 * the one that shares most servers with it; backends that share none are of something else.
 * @returns the findings, how many backends have members, and what could not be compared
 */
export function compareServers(
  text: string,
  clusters: readonly StatusCluster[],
): { readonly findings: readonly ServerFinding[]; readonly backends: number; readonly uncompared: Uncompared } {
  const sections = sectionsOf(text);
  const isStateInherited = sections.some((section) => section.keyword === "defaults" && sendsState(section));
  const backends = sections.flatMap((section) => {
    const servers = section.lines.flatMap(({ tokens, number }) => serversOf(tokens, number));
    const cluster = ["backend", "listen"].includes(section.keyword) ? clusterOf(section, servers, clusters) : null;
    const isState = isStateInherited || sendsState(section);
    return cluster === null ? [] : [{ section, servers, cluster, isState }];
  });
  const placed = backends.flatMap(({ section, servers, cluster, isState }) =>
    servers.map((server) =>
      place(server, { where: `${section.name.split(" ")[1]}/${server.name}`, cluster, clusters, isState }),
    ),
  );
  const findings = placed.flatMap((one) => (typeof one === "object" ? [one] : []));
  const uncompared = {
    ports: placed.filter((one) => one === "other_port").length,
    addresses: placed.filter((one) => one === "unknown_address").length,
  };
  const missing = clusters.flatMap((cluster) => {
    const own = backends.filter((backend) => backend.cluster === cluster);
    const servers = own.flatMap((backend) => backend.servers);
    // Another HAProxy may serve this cluster.
    if (own.length === 0 && backends.length > 0) return [];
    if (own.length === 0) return [finding("RC128", `${cluster.cluster}: no backend has a server of the cluster`, null)];
    return cluster.nodes
      .filter((node) => !servers.some((server) => server.name === node.node || isAt(server, node)))
      .map(({ node }) => finding("RC128", `${cluster.cluster}/${node} is in no backend`, null));
  });
  return { findings: [...missing, ...findings], backends: backends.length, uncompared };
}

interface Server {
  readonly name: string;
  /** `null` if the file does not say it, as for a variable of the environment. */
  readonly host: string | null;
  /** `null` if it is that of the session, or relative to it. */
  readonly port: number | null;
  readonly line: number;
}

function serversOf([keyword, name = "", ...rest]: readonly string[], line: number): readonly Server[] {
  if (keyword === "server") return [{ name, ...addressOf(rest[0] ?? ""), line }];
  if (keyword !== "server-template") return [];
  const [, first, last] = /^(?:(\d{1,6})-)?(\d{1,6})$/.exec(rest[0] ?? "") ?? [];
  const start = Number(first ?? 1);
  const length = Math.min(templateMax, Number(last ?? 0) - start + 1);
  // All servers of a template share one name, whose addresses only DNS knows.
  return Array.from({ length: Math.max(0, length) }, (_, at) => ({
    name: `${name}${start + at}`,
    host: null,
    port: null,
    line,
  }));
}

function addressOf(text: string): Pick<Server, "host" | "port"> {
  const plain = text.replace(/^ipv[46]@/, "");
  const unknown = { host: null, port: null };
  if (/[$@/]/.test(plain)) return unknown;
  // HAProxy takes what follows the last colon for the port, also of an IPv6 address without brackets.
  const bare = plain.replace(/^([0-9a-f:.]*:[0-9a-f:.]*):(\d{1,5})$/i, "[$1]:$2");
  const address = parseDatabaseAddress(bare);
  if (address !== undefined) return address;
  const host = plain.replace(/:[+-]?\d*$/, "");
  return host === "" ? unknown : { host, port: null };
}

function sendsState({ lines }: HaproxySection): boolean {
  return lines.some(({ tokens }) => tokens[0] === "http-check" && tokens[1] === "send-state");
}

/** The cluster of a backend, or `null` if it has none. */
function clusterOf(
  { lines }: HaproxySection,
  servers: readonly Server[],
  clusters: readonly StatusCluster[],
): StatusCluster | null {
  const words = lines.flatMap(({ tokens }) => (/^(?:option|http-check)$/.test(tokens[0] ?? "") ? tokens : []));
  const named = clusters.find(({ cluster }) => words.some((word) => word.includes(`/clusters/${cluster}/`)));
  const scored = clusters.map((cluster) => ({
    cluster,
    shared: servers.reduce((sum, server) => sum + likeness(server, cluster), 0),
  }));
  const best = scored.reduce<(typeof scored)[number] | null>(
    (one, other) => (other.shared > (one?.shared ?? 0) ? other : one),
    null,
  );
  return named ?? best?.cluster ?? null;
}

function likeness(server: Server, { nodes }: StatusCluster): number {
  const isNamed = nodes.some(({ node }) => node === server.name);
  return Number(isNamed) + 2 * Number(nodes.some((node) => isAt(server, node)));
}

/** Whether a server surely has the address of a member's database or API. */
function isAt({ host, port }: Server, node: StatusNode): boolean {
  return (
    host !== null &&
    port !== null &&
    addressesOf(node).some((known) => bareHost(known.host) === bareHost(host) && known.port === port)
  );
}

/** The rendered file has servers at the APIs too, for the checks of its fallback. */
function addressesOf({ database, api }: StatusNode): readonly DatabaseAddress[] {
  const url = api !== null && URL.canParse(api) ? new URL(api) : null;
  const port = url === null ? "" : url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  return [database, url === null ? null : `${url.hostname}:${port}`].flatMap(
    (text) => (text === null ? undefined : parseDatabaseAddress(text)) ?? [],
  );
}

interface ServerPlace {
  /** Its backend and name: `reads/pg1`. */
  readonly where: string;
  readonly cluster: StatusCluster;
  /** All that are compared: a server may lead to a member of another one. */
  readonly clusters: readonly StatusCluster[];
  /** Whether checks state the address of the server, so that rolecall compares its port too. */
  readonly isState: boolean;
}

/** Where a server leads: to its member, or perhaps elsewhere; or what is wrong with it. */
type Placed = "member" | "other_port" | "unknown_address" | ServerFinding;

function place(server: Server, { where, cluster, clusters, isState }: ServerPlace): Placed {
  const { host, port, name, line } = server;
  const member = cluster.nodes.find(({ node }) => node === name);
  if (member === undefined) {
    const owner = cluster.nodes.find((node) => isAt(server, node));
    const but = owner === undefined ? "" : `; its address is that of ${owner.node}`;
    return finding("RC129", `${where} is no member of ${cluster.cluster}${but}`, line);
  }
  if (isAt(server, member)) return "member";
  if (host === null) return "unknown_address";
  const shown = port === null ? host : hostPort({ host, port });
  const self = `${cluster.cluster}/${name}`;
  const owner = clusters
    .flatMap((one) => one.nodes.map((node) => ({ node, name: `${one.cluster}/${node.node}` })))
    .find(({ node }) => isAt(server, node));
  const right = member.database === null ? `${self} is another node` : `${self} is at ${member.database}`;
  if (owner !== undefined)
    return finding("RC130", `${where} is at ${shown}, which is the address of ${owner.name}; ${right}`, line);
  const known = addressesOf(member);
  if (known.length === 0 || member.database === null) return "unknown_address";
  const isElsewhere = known.every((address) =>
    isDifferentAddress({ host, port: isState && port !== null ? port : address.port }, address),
  );
  if (isElsewhere) return finding("RC130", `${where} is at ${shown}, but ${self} is at ${member.database}`, line);
  return known.some((address) => bareHost(address.host) === bareHost(host)) ? "other_port" : "unknown_address";
}

function finding(rule: ServerFinding["rule"], message: string, line: number | null): ServerFinding {
  return { rule, message, line };
}
