import { parseRequestTarget } from "../../core/http/message/request-target.ts";
import { routeOf, routePaths, type Route } from "../../core/health/route.ts";
import { readHaproxyChecks, type HaproxyCheck } from "./haproxy-file.ts";
import { sectionsOf, type HaproxySection } from "../../core/balancing/haproxy-sections.ts";

/** A node that is compared, as far as an haproxy.cfg can name it. */
export interface ComparedNode {
  readonly name: string;
  /** The base address of its API. */
  readonly api: string;
}

/** Routes that other services have too, so that the path alone says nothing about what is checked. */
const everydayRoutes: ReadonlySet<Route> = new Set<Route>(["health", "liveness", "readiness"]);

/**
 * Finds the checks of other services in the same haproxy.cfg: no server of their section is one of the nodes, by name
 * or address, and the path is none that only databases have. Where no section of the file has a node as its server,
 * names and addresses prove nothing, and only paths that no node has belong to another service.
 */
export function otherServices(text: string, nodes: readonly ComparedNode[]): readonly HaproxyCheck[] {
  const sections = new Map(sectionsOf(text).map((section) => [section.name, serversOf(section)]));
  const isAnyNode = [...sections.values()].some((servers) => servers.some((server) => isNode(server, nodes)));
  const checks = readHaproxyChecks(text).map((found) => ({ ...found, kind: pathKind(found.check) }));
  const ofDatabases = new Set(checks.flatMap(({ section, kind }) => (kind === "of_databases" ? [section] : [])));
  return checks.filter(({ section, kind }) => {
    const servers = sections.get(section) ?? [];
    if (servers.length === 0 || ofDatabases.has(section)) return false;
    if (!isAnyNode) return kind === "unknown";
    const checked = kind === "unknown" ? servers.filter((server) => isApiChecked(server, nodes)) : servers;
    return !checked.some((server) => isNode(server, nodes));
  });
}

interface Server {
  readonly name: string;
  readonly host: string;
  /** The port that checks go to; `null`: that of the address, which is not stated. */
  readonly checkPort: string | null;
}

function serversOf({ lines }: HaproxySection): readonly Server[] {
  return lines.flatMap(({ tokens: [keyword, name = "", address = "", ...words] }) => {
    if (keyword !== "server") return [];
    const { host, port } = hostAndPort(address);
    const at = words.indexOf("port");
    return [{ name, host, checkPort: at < 0 ? port : (words[at + 1] ?? null) }];
  });
}

/** Splits `10.0.0.1:5432`, `[::1]:5432` and `ipv4@10.0.0.1:5432`. */
function hostAndPort(address: string): { readonly host: string; readonly port: string | null } {
  const bare = address.replace(/^[a-z0-9]+@/, "");
  const at = /^(.*?):(\d+)$/.exec(bare);
  return { host: (at?.[1] ?? bare).replaceAll(/[[\]]/g, ""), port: at?.[2] ?? null };
}

function isNode({ name, host }: Server, nodes: readonly ComparedNode[]): boolean {
  return nodes.some((node) => node.name === name || hostAndPortOf(node).host === host);
}

/** Whether the checks of a server go to the API of a node, which may share its machine with other services. */
function isApiChecked({ checkPort }: Server, nodes: readonly ComparedNode[]): boolean {
  return checkPort === null || nodes.some((node) => hostAndPortOf(node).port === checkPort);
}

function hostAndPortOf({ api }: ComparedNode): { readonly host: string; readonly port: string } {
  const { hostname, port, protocol } = new URL(api);
  return { host: hostname.replaceAll(/[[\]]/g, ""), port: port === "" ? (protocol === "https:" ? "443" : "80") : port };
}

/** Nodes search paths for the names of their routes: `/replicas` is of a database too. */
function pathKind(check: string): "of_databases" | "everyday" | "unknown" {
  const target = parseRequestTarget(check);
  if ("problem" in target) return "unknown";
  if (target.path === "") return "everyday";
  const route = routeOf(target.path) ?? routeWithin(target.path);
  if (route === undefined) return "unknown";
  return everydayRoutes.has(route) ? "everyday" : "of_databases";
}

function routeWithin(path: string): Route | undefined {
  const name = routePaths().find((route) => route.length > 1 && path.includes(route.slice(1)));
  return name === undefined ? undefined : routeOf(name.slice(1));
}
