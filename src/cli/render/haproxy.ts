import { hostPort, type TargetCluster, type Targets } from "./targets.ts";

/** The options for the rendered load balancers. */
export interface RenderOptions {
  readonly bind: string;
  readonly writePort: number;
  readonly readPort: number;
  /** The lag limit of the read pool, such as `10MB`. */
  readonly lag: string;
  /** Whether the read pool keeps the existing sessions of a replica after a soft no (drained, lagging). */
  readonly soft: boolean;
}

/** The distance between the ports of two clusters. */
export const portStep = 10;

/**
 * Renders an HAProxy configuration: per cluster one port for writes and one for reads. A write server goes down after
 * one failed check and up after two good ones; otherwise the old and the new primary would both be up for a moment
 * (reference/integrations.md, 1.7, measured).
 *
 * With `soft`, a soft no is a 404 in the read pool: HAProxy sends no new sessions (NOLB) and keeps the existing ones.
 * The write pool never uses this: a server leaves NOLB after a single 200 regardless of `rise`, and the sessions of an
 * old primary must be closed.
 */
export function renderHaproxy({ clusters, edge }: Targets, options: RenderOptions): string {
  return [
    "# Rendered by rolecall. Its health checks go to rolecall. Validate this file with: haproxy -c -f THIS_FILE",
    "global",
    "    spread-checks 3",
    "",
    "defaults",
    "    mode tcp",
    "    timeout connect 2s",
    "    timeout client  30m",
    "    timeout server  30m",
    "    timeout check   900ms",
    ...clusters.flatMap((cluster, index) => [
      ...renderPool(cluster, writePool(options, index), edge),
      ...renderPool(cluster, readPool(options, index), edge),
    ]),
    "",
  ].join("\n");
}

interface Pool {
  readonly kind: string;
  readonly bind: string;
  readonly check: string;
  readonly lines: readonly string[];
  /** Further `http-check` rules. */
  readonly rules: readonly string[];
  readonly server: string;
}

function writePool({ bind, writePort }: RenderOptions, index: number): Pool {
  return {
    kind: "write",
    bind: hostPort({ host: bind, port: writePort + index * portStep }),
    check: "primary",
    lines: [],
    rules: [],
    server: "inter 300ms rise 2 fall 1 on-marked-down shutdown-sessions",
  };
}

function readPool({ bind, readPort, lag, soft }: RenderOptions, index: number): Pool {
  return {
    kind: "read",
    bind: hostPort({ host: bind, port: readPort + index * portStep }),
    check: `replica?lag=${lag}${soft ? "&miss=404" : ""}`,
    lines: ["    balance roundrobin"],
    rules: soft ? ["    http-check disable-on-404"] : [],
    // With `soft`, a server goes down only after a hard no, and its sessions must be closed then.
    server: `inter 1s fastinter 200ms rise 2 fall 3${soft ? " on-marked-down shutdown-sessions" : ""}`,
  };
}

function renderPool(
  { name, nodes }: TargetCluster,
  { kind, bind, check, lines, rules, server }: Pool,
  edge: Targets["edge"],
): readonly string[] {
  if (nodes.length === 0) return ["", `# ${name} ${kind}: no database address is known`];
  return [
    "",
    `listen ${name}_${kind}`,
    `    bind ${bind}`,
    ...lines,
    "    option httpchk",
    `    http-check send meth GET uri-lf /clusters/${name}/nodes/%[srv_name]/${check} ver HTTP/1.1 hdr Host rolecall`,
    "    http-check expect status 200",
    ...rules,
    `    default-server check addr ${edge.host} port ${edge.port} ${server}`,
    ...nodes.map((node) => `    server ${node.name} ${hostPort(node.database)}`),
  ];
}
