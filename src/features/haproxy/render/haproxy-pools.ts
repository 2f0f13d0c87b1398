import { hostPort } from "../../../core/command/render/edges.ts";
import type { RenderOptions } from "../../../core/command/render/options.ts";
import type { AgentChecks } from "../../../core/command/render/render-target.ts";
import type { HaproxyPool } from "./haproxy-pool.ts";
import { commentLines } from "../../../core/command/render/member-comments.ts";
import { type BackendNode, type CheckedApi, type TargetCluster } from "../../../core/command/render/targets.ts";
import { isName, resolving } from "../../../core/command/render/resolving.ts";

/** How the sections of one cluster are rendered. */
export interface SectionSettings {
  readonly options: RenderOptions;
  /** How agents are asked; `null`: they are not. */
  readonly agent: AgentChecks | null;
  /** Whether the checks have a second instance of rolecall to go to. */
  readonly hasSecondEdge: boolean;
  /** Whether comments explain the lines: once is enough in a file. */
  readonly isExplained: boolean;
}

/**
 * Returns the frontends and backends of one cluster: for each pool its frontend, its backend (rolecall decides), and the
 * backend `…_direct` (the nodes' own checks decide).
 */
export function clusterSections(
  cluster: TargetCluster,
  pools: readonly HaproxyPool[],
  settings: SectionSettings,
): readonly string[] {
  const { name, nodes } = cluster;
  const leftOut = commentLines([...cluster.unnamed, ...cluster.unbalanced]);
  if (nodes.length === 0) return ["", ...leftOut, `# ${name}: no database address is known`];
  const direct = nodes.filter(({ api }) => api !== null);
  const sections = [
    ...pools.flatMap((pool) => frontend(pool, { settings, hasFallback: direct.length > 0 })),
    ...pools.flatMap((pool, at) => {
      const isFirst = pools.findIndex(({ kind }) => kind === pool.kind) === at;
      return ["", ...(isFirst ? comments(pool, settings) : []), ...backend(pool, cluster, settings)];
    }),
    ...(direct.length === 0 ? [] : directBackends(cluster, pools, { direct, settings })),
  ];
  return [
    ...(leftOut.length === 0 ? [] : ["", ...leftOut]),
    ...(settings.isExplained ? sections : sections.filter((line) => !/^ *#/.test(line))),
  ];
}

function frontend(
  { frontend: name, backend: pool, port }: HaproxyPool,
  { settings, hasFallback }: { readonly settings: SectionSettings; readonly hasFallback: boolean },
): readonly string[] {
  const { options } = settings;
  const host = options.bind === "*" ? "*" : options.bind;
  return [
    "",
    `frontend ${name}`,
    `  bind ${hostPort({ host, port })}`,
    ...(options.isBare ? [] : ["  option tcplog"]),
    ...(hasFallback
      ? [
          "  # The nodes' own checks decide only while no instance of rolecall is ready.",
          `  use_backend ${pool}_direct if { nbsrv(rolecall) eq 0 } || { nbsrv(rolecall_ready) eq 0 }`,
        ]
      : ["  # No node has an API of its own to check: while no rolecall is ready, new sessions are refused."]),
    `  default_backend ${pool}`,
  ];
}

/** How the servers of a pool are checked: the words that each of them has. */
export function checkWords(
  { kind, isWeighted }: Pick<HaproxyPool, "kind" | "isWeighted">,
  { options, hasSecondEdge }: Pick<SectionSettings, "options" | "hasSecondEdge">,
): string {
  const writePace = hasSecondEdge
    ? "inter 200ms downinter 100ms fastinter 100ms rise 3 fall 1"
    : "inter 500ms rise 4 fall 3";
  const pace = kind === "write" ? writePace : `inter 500ms rise 2 fall ${hasSecondEdge ? 2 : 3}`;
  const words = `check addr 127.0.0.1 port ${options.checkPort} ${pace} on-marked-down shutdown-sessions`;
  // Of 1, 99% would be 0.
  return isWeighted ? `${words} weight 100` : words;
}

/**
 * The words of servers that rolecall adds to the fallback of a cluster.
 * @returns `null` if its nodes have no words in common: another API port or host, or TLS
 */
export function directWords(kind: HaproxyPool["kind"], nodes: readonly BackendNode[]): string | null {
  const [first] = nodes;
  const port = first?.api?.port;
  const isCommon = nodes.every(({ api, database }) => api?.port === port && !api?.isTls && api?.host === database.host);
  return port === undefined || !isCommon ? null : `${directPace(kind)} port ${port} on-marked-down shutdown-sessions`;
}

function directPace(kind: HaproxyPool["kind"]): string {
  return `check inter 3s fastinter 500ms rise ${kind === "write" ? 3 : 1} fall 2`;
}

function comments({ kind, isDeclared }: HaproxyPool, settings: SectionSettings): readonly string[] {
  return kind === "write" ? writeComments(settings) : readComments(isDeclared, settings);
}

function writeComments({ hasSecondEdge }: SectionSettings): readonly string[] {
  return [
    "# The primary. Every no of rolecall is a 503: the sessions of an old primary are closed.",
    ...(hasSecondEdge
      ? [
          "# rise takes as long as inter, so the old primary is down before the new one is up. Checks are cheap: rolecall",
          "# answers from memory. fall 1 is safe because two instances and the fallback are behind `listen rolecall`.",
        ]
      : [
          "# rise is above fall, so the old primary is down before the new one is up. With one instance of rolecall, a no",
          "# must last for 1.5 s (fall 3). With a second one (render --edge twice) it is 0.2 s, and a new primary gets its",
          "# sessions more than a second earlier.",
        ]),
  ];
}

function readComments(isDeclared: boolean, { agent, options: { zone } }: SectionSettings): readonly string[] {
  return [
    ...(isDeclared
      ? []
      : [
          "# Replicas. lag limits the WAL that a replica has not replayed; lag_time limits how old its data may be: under",
          "# few writes, a replica that receives nothing stays below a limit in bytes for a long time. keep=1: no limit takes",
          "# out the replica with the least lag.",
        ]),
    "# miss=404 drains a server for a soft no (lagging, drained, no replica): it keeps its sessions and gets no new ones.",
    "# A hard no (down, detached, diverged) stays a 503 and closes them.",
    ...(agent === null
      ? []
      : [
          "# The agent sets weights, and drains a lagging replica by a weight of 0. It never marks a server up or down:",
          "# that is up to the checks.",
        ]),
    ...(zone === null
      ? []
      : [
          `# Servers that are not in zone ${zone} are backups: they get sessions only while no server of the zone takes any.`,
        ]),
  ];
}

function backend(pool: HaproxyPool, { name, nodes }: TargetCluster, settings: SectionSettings): readonly string[] {
  const { kind, backend: section, check, agentCheck } = pool;
  const isRead = kind === "read";
  const zone = isRead ? settings.options.zone : null;
  const agent = isRead ? settings.agent : null;
  return [
    `backend ${section}`,
    ...(isRead ? readBalance(zone) : []),
    ...checkLines(`/clusters/${name}/nodes/%[srv_name]${check.replaceAll("%", "%%")}`),
    `  default-server ${checkWords(pool, settings)}${agent?.words ?? ""}` +
      resolving(nodes.map(({ database }) => database.host)),
    ...nodes.map(
      (node) =>
        `  server ${node.name} ${hostPort(node.database)}${backupWord(node, zone)}` +
        (agent?.send(`${name}/${node.name}`, agentCheck) ?? ""),
    ),
  ];
}

/**
 * Where there are backups, the server with fewer sessions of two random ones: `leastconn` of HAProxy 3.2 can find no
 * server when it changes to backups, although they are up (seen with 3.2.26; 2.6 does not). Without `allbackups` only the
 * first of the backups gets sessions.
 */
function readBalance(zone: string | null): readonly string[] {
  return zone === null ? ["  balance leastconn"] : ["  balance random(2)", "  option allbackups"];
}

function backupWord(node: BackendNode, zone: string | null): string {
  return zone === null || node.zone === zone ? "" : " backup";
}

/** The check of one server. `%[srv_name]` selects the node, so the names of the servers are those of the nodes. */
function checkLines(uri: string): readonly string[] {
  return [
    "  option httpchk",
    `  http-check send meth GET uri-lf ${uri} ver HTTP/1.1 hdr Host rolecall`,
    "  http-check expect status 200",
    "  http-check disable-on-404",
    "  # Sends HAProxy's address of the server. If it is not this node's database, rolecall answers `moved`.",
    "  http-check send-state",
  ];
}

function directBackends(
  { ca }: TargetCluster,
  pools: readonly HaproxyPool[],
  { direct, settings }: { readonly direct: readonly BackendNode[]; readonly settings: SectionSettings },
): readonly string[] {
  return pools.flatMap(({ kind, backend: name, directCheck: path }, at) => [
    "",
    ...(at === 0 ? ["# The fallback: checks of each node's own API, at longer intervals."] : []),
    ...directBackend(name, direct, { kind, path, zone: kind === "read" ? settings.options.zone : null, ca }),
  ]);
}

interface DirectCheck {
  readonly kind: HaproxyPool["kind"];
  readonly path: string;
  /** The zone whose servers get the sessions, or `null`. */
  readonly zone: string | null;
  /** The file of the CA of the nodes' certificates; `null`: the CAs of the system. */
  readonly ca: string | null;
}

/**
 * The backend of the nodes' own checks. HAProxy exits if it cannot resolve the name in `addr`, whatever `init-addr`
 * says. So a server whose API has another name than its database tracks a server at that name, in a backend `…_api`.
 */
function directBackend(name: string, direct: readonly BackendNode[], check: DirectCheck): readonly string[] {
  const named = direct.filter(isApiNamed);
  const checking = [`  option httpchk GET ${check.path}`, "  http-check expect status 200"];
  const pace = directPace(check.kind);
  const resolvingDirect = resolving(direct.map(({ database }) => database.host));
  const server = (node: BackendNode): string =>
    `  server ${node.name} ${hostPort(node.database)}${backupWord(node, check.zone)}` +
    (isApiNamed(node)
      ? ` no-check track ${name}_api/${node.name}`
      : `${checkedAt(node)}${tlsWords(node.api, check.ca)}`);
  return [
    `backend ${name}_direct`,
    ...(check.kind === "read" ? readBalance(check.zone) : []),
    ...checking,
    `  default-server ${pace} on-marked-down shutdown-sessions${resolvingDirect}`,
    ...direct.map(server),
    ...(named.length === 0
      ? []
      : [
          "",
          "# The checks of nodes whose API has another host name than their database.",
          `backend ${name}_api`,
          ...checking,
          `  default-server ${pace} init-addr last,libc,none`,
          ...named.map(({ name: node, api }) => `  server ${node} ${hostPort(api)}${tlsWords(api, check.ca)}`),
        ]),
  ];
}

type DirectNode = BackendNode & { readonly api: CheckedApi };

function isApiNamed(node: BackendNode): node is DirectNode {
  return node.api !== null && node.api.host !== node.database.host && isName(node.api.host);
}

/** Where HAProxy checks a server whose API is at the host of its database, or at another IP address. */
function checkedAt({ database, api }: BackendNode): string {
  if (api === null) return "";
  const address = api.host === database.host ? "" : ` addr ${api.host.includes(":") ? `[${api.host}]` : api.host}`;
  return `${address} port ${api.port}`;
}

/** Certificates are verified as rolecall does; HAProxy compares names only, not IP addresses. */
function tlsWords(api: CheckedApi | null, ca: string | null): string {
  if (api === null || !api.isTls) return "";
  const sni = isName(api.host) ? ` check-sni ${api.host} verifyhost ${api.host}` : "";
  return ` check-ssl verify required ca-file ${ca === null ? "@system-ca" : escaped(ca)}${sni}`;
}

/** Escapes a file name as a word of HAProxy's configuration. */
function escaped(file: string): string {
  return file.replaceAll(/[^\w./@+-]/g, (character) => `\\${character}`);
}
