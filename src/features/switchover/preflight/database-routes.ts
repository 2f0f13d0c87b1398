import type { PooledDatabaseConfig } from "../../../core/config/model/config.ts";
import { isLoopback } from "../../../core/config/values/loopback.ts";
import { bareHost } from "../../../core/health/evidence/node/identity.ts";
import type { ShownDatabase } from "../../../core/balancing/pgbouncer/documents.ts";
import type { PoolerFinding } from "./pooler-finding.ts";
import { type KnownServer, type PoolerSetup, relevantDatabases } from "./pooler-setup.ts";

/** Where a database of PgBouncer leads. */
interface Route {
  /** As a message names it. */
  readonly text: string;
  /** The nodes among its hosts. */
  readonly nodes: readonly KnownServer[];
  /** Whether a host is that of a node by its name only: what the name resolves to may change. */
  readonly isByName: boolean;
  /** Whether it is the machine of PgBouncer itself, and the port of a node. */
  readonly isOnOwnMachine: boolean;
}

/** The default of PostgreSQL, and of PgBouncer. */
const defaultPort = 5432;
/** The most unlisted databases that are named. */
const unlistedMax = 20;

/** Where the listed databases lead, and what else leads there. */
export function routeFindings(setup: PoolerSetup): readonly PoolerFinding[] {
  const { pooler, shown, restarted = null } = setup;
  if (restarted !== null) return named(pooler.name, missedFindings(setup, restarted.node));
  const listed = relevantDatabases(setup).flatMap((database) => {
    const found = shown.databases.find(({ name }) => name === database.name);
    return found === undefined ? [] : [{ database, route: routeOf(found, setup) }];
  });
  const others = shown.databases.filter(
    ({ name }) => name !== "pgbouncer" && !listed.some(({ database }) => database.name === name),
  );
  return [
    ...listed.flatMap(({ database, route }) => listedFindings(pooler.name, database, route)),
    ...named(
      pooler.name,
      others.flatMap((other) => unlistedFindings(other, listed, setup)),
    ),
  ];
}

/** Clients choose the names of automatic databases: there may be any number of them. */
function named(pooler: string, unlisted: readonly PoolerFinding[]): readonly PoolerFinding[] {
  const [first] = unlisted;
  if (first === undefined || unlisted.length <= unlistedMax) return unlisted;
  const text = `${unlisted.length - unlistedMax} more databases must be among databases, because they lead to the clusters`;
  return [...unlisted.slice(0, unlistedMax), { ...first, subject: pooler, text }];
}

function listedFindings(
  pooler: string,
  { name, cluster, file }: PooledDatabaseConfig,
  route: Route,
): readonly PoolerFinding[] {
  const subject = `${pooler}/${name}`;
  const finding = (level: PoolerFinding["level"], text: string, hint: string): PoolerFinding[] => [
    { kind: "route", level, subject, text, hint },
  ];
  const foreign = route.nodes.find((server) => server.cluster !== cluster);
  if (foreign !== undefined)
    return finding(
      "error",
      `must lead to the cluster ${cluster} only, got ${route.text}: ${foreign.node} is of the cluster ${foreign.cluster}`,
      "Correct its cluster, or give each cluster a database of its own in PgBouncer.",
    );
  const names = route.nodes.map(({ node }) => node).join(" and ");
  const hint = "Set file, or let the database lead to a balancer that follows the primary.";
  const [own] = route.nodes;
  if (file !== null)
    return own === undefined
      ? finding(
          "warning",
          `must lead to a node of the cluster ${cluster}, because it has a file, got ${route.text}`,
          "Include the file in the configuration of PgBouncer in place of the database's line (%include). It is right when rolecall has written it.",
        )
      : [];
  if (own === undefined)
    return route.isOnOwnMachine
      ? finding(
          "warning",
          `leads to ${route.text} of PgBouncer's own machine, the port of a node: it stays there`,
          hint,
        )
      : [];
  return route.isByName
    ? finding("warning", `leads to ${route.text}, a name of ${names}: clients follow only if the name changes`, hint)
    : finding("error", `must lead to a balancer or have a file, got ${route.text}, which is ${names}`, hint);
}

function unlistedFindings(
  other: ShownDatabase,
  listed: readonly { readonly database: PooledDatabaseConfig; readonly route: Route }[],
  setup: PoolerSetup,
): readonly PoolerFinding[] {
  const { pooler } = setup;
  const route = routeOf(other, setup);
  const clusters = new Set(setup.cluster === null ? pooler.databases.map(({ cluster }) => cluster) : [setup.cluster]);
  const node = route.nodes.find(({ cluster }) => clusters.has(cluster));
  const configured = pooler.databases.find(({ name }) => name === other.name);
  const twin = configured === undefined ? listed.find((one) => one.route.text === route.text) : undefined;
  if (node === undefined && twin === undefined) return [];
  const must = configured === undefined ? "be among databases" : `have the cluster ${node?.cluster}`;
  const where = node === undefined ? `as ${twin?.database.name} does` : `${node.node} of the cluster ${node.cluster}`;
  return [
    {
      kind: "unlisted",
      level: "error",
      subject: `${pooler.name}/${other.name}`,
      text: `must ${must}, because it leads to ${route.text}, ${where}: its clients would not wait`,
      hint: "Add it to databases of the pooler, or remove it from PgBouncer.",
    },
  ];
}

/** The nodes that a database of PgBouncer leads to; none where it leads to something else, as a balancer. */
export function nodesOfDatabase(
  shown: ShownDatabase,
  known: Pick<PoolerSetup, "servers" | "resolved">,
): readonly KnownServer[] {
  return routeOf(shown, known).nodes;
}

/** Databases that nobody has listed, and that lead to the node that is restarted: their clients would not wait. */
function missedFindings(setup: PoolerSetup, node: string): readonly PoolerFinding[] {
  const { pooler, shown, cluster } = setup;
  const others = shown.databases.filter(
    ({ name }) => name !== "pgbouncer" && pooler.databases.every((configured) => configured.name !== name),
  );
  return others.flatMap((other): readonly PoolerFinding[] => {
    const { text, nodes } = routeOf(other, setup);
    if (!nodes.some((server) => server.node === node && server.cluster === cluster)) return [];
    return [
      {
        kind: "unlisted",
        level: "error",
        subject: `${pooler.name}/${other.name}`,
        text: `must be among databases, because it leads to ${text}, ${node} of the cluster ${cluster}: its clients would not wait`,
        hint: "Add it to databases of the pooler, or remove it from PgBouncer.",
      },
    ];
  });
}

function routeOf(
  { host, port }: ShownDatabase,
  { servers, resolved }: Pick<PoolerSetup, "servers" | "resolved">,
): Route {
  const actualPort = port ?? defaultPort;
  const isOnOwnMachine =
    (host === null || isLoopback(host)) && servers.some(({ address }) => address.port === actualPort);
  if (host === null) return { text: `a Unix socket, port ${actualPort},`, nodes: [], isByName: false, isOnOwnMachine };
  const hosts = host.split(",").map(bareHost);
  const addressesOf = (name: string): readonly string[] => [name, ...(resolved.get(name) ?? []).map(bareHost)];
  const isAt = ({ address }: KnownServer): boolean => address.port === actualPort;
  const same = servers.filter((server) => isAt(server) && hosts.includes(bareHost(server.address.host)));
  const ips = new Set(hosts.flatMap(addressesOf));
  const byName = servers.filter(
    (server) => isAt(server) && addressesOf(bareHost(server.address.host)).some((address) => ips.has(address)),
  );
  return { text: `${host}:${actualPort}`, nodes: byName, isByName: same.length === 0, isOnOwnMachine };
}
