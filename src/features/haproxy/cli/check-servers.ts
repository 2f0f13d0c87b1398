import { countText } from "../../../core/health/wording.ts";
import type { DatabaseAddress } from "../../../core/cluster/node.ts";
import { readRegularFile } from "../../../core/files/regular-file.ts";
import { parseDatabaseAddress } from "../../../core/health/check.ts";
import { isDifferentAddress } from "../../../core/health/evidence/node/identity.ts";
import type { StatusCluster, StatusNode } from "../../../core/command/client/cluster-status.ts";
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
  const { findings, backends } = compareServers(text, members);
  for (const { rule, message, line } of findings)
    result.diagnose(rule, { message, location: { file, kind: "source", ...(line === null ? {} : { line }) } });
  result.cover("haproxy_config", "complete", { detail: `${countText(backends, "backend")} with members in ${file}` });
}

/**
 * Compares the servers of an haproxy.cfg with members. A backend is one of the cluster that its checks name, else of
 * the one that shares most servers with it; backends that share none are of something else.
 * @returns the findings, and how many backends have members
 */
export function compareServers(
  text: string,
  clusters: readonly StatusCluster[],
): { readonly findings: readonly ServerFinding[]; readonly backends: number } {
  const sections = sectionsOf(text);
  const isStateInherited = sections.some((section) => section.keyword === "defaults" && sendsState(section));
  const backends = sections.flatMap((section) => {
    const servers = section.lines.flatMap(({ tokens, number }) => serversOf(tokens, number));
    const cluster = ["backend", "listen"].includes(section.keyword) ? clusterOf(section, servers, clusters) : null;
    const isState = isStateInherited || sendsState(section);
    return cluster === null ? [] : [{ section, servers, cluster, isState }];
  });
  const findings = backends.flatMap(({ section, servers, cluster, isState }) =>
    servers.flatMap((server) =>
      serverFinding(server, { where: `${section.name.split(" ")[1]}/${server.name}`, cluster, isState }),
    ),
  );
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
  return { findings: [...missing, ...findings], backends: backends.length };
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
  const address = parseDatabaseAddress(plain);
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
    addressesOf(node).some((known) => known.host.toLowerCase() === host.toLowerCase() && known.port === port)
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
  /** Whether checks state the address of the server, so that rolecall compares its port too. */
  readonly isState: boolean;
}

function serverFinding(server: Server, { where, cluster, isState }: ServerPlace): readonly ServerFinding[] {
  const { host, port, name, line } = server;
  const member = cluster.nodes.find(({ node }) => node === name);
  if (member === undefined) {
    const owner = cluster.nodes.find((node) => isAt(server, node));
    const but = owner === undefined ? "" : `; its address is that of ${owner.node}`;
    return [finding("RC129", `${where} is no member of ${cluster.cluster}${but}`, line)];
  }
  const known = addressesOf(member);
  if (host === null || known.length === 0 || member.database === null) return [];
  const isElsewhere = known.every((address) =>
    isDifferentAddress({ host, port: isState && port !== null ? port : address.port }, address),
  );
  if (!isElsewhere) return [];
  const shown = port === null ? host : `${host}:${port}`;
  return [finding("RC130", `${where} is at ${shown}, but ${cluster.cluster}/${name} is at ${member.database}`, line)];
}

function finding(rule: ServerFinding["rule"], message: string, line: number | null): ServerFinding {
  return { rule, message, line };
}
