import { hostPort, type TargetCluster, type Targets } from "./targets.ts";

/** What an operator chooses of the rendered balancers. */
export interface RenderChoices {
  readonly bind: string;
  readonly writePort: number;
  readonly readPort: number;
  /** The lag limit of readers, as `10MB`. */
  readonly lag: string;
  /** Whether a soft no (drained, lagging) of a reader lets its sessions be. */
  readonly soft: boolean;
}

/** How far apart the ports of two clusters are. */
export const portStep = 10;

/**
 * An HAProxy configuration: per cluster one port for writers and one for readers. Writers fall at once and rise after two,
 * or the old and the new primary would both be up for a moment (reference/integrations.md, 1.7, measured).
 * Softly drained readers: a soft no is a 404, which takes new sessions away (NOLB) and lets those that are there be. Never for writers:
 * from NOLB a server is up again after a single 200, past its `rise`, and the sessions of an old primary have to be cut.
 */
export function renderHaproxy({ clusters, edge }: Targets, choices: RenderChoices): string {
  return [
    "# Rendered by rolecall: HAProxy asks rolecall, which answers from memory. Check it with: haproxy -c -f THIS_FILE",
    "global",
    "    spread-checks 3",
    "",
    "defaults",
    "    mode tcp",
    "    timeout connect 2s",
    "    timeout client  30m",
    "    timeout server  30m",
    "    timeout check   900ms",
    ...clusters.flatMap((cluster, at) => [
      ...pool(cluster, writer(choices, at), edge),
      ...pool(cluster, reader(choices, at), edge),
    ]),
    "",
  ].join("\n");
}

interface Pool {
  readonly kind: string;
  readonly bind: string;
  readonly check: string;
  readonly lines: readonly string[];
  /** Rules of the check beside what is sent and expected. */
  readonly rules: readonly string[];
  readonly server: string;
}

function writer({ bind, writePort }: RenderChoices, at: number): Pool {
  return {
    kind: "write",
    bind: hostPort({ host: bind, port: writePort + at * portStep }),
    check: "primary",
    lines: [],
    rules: [],
    server: "inter 300ms rise 2 fall 1 on-marked-down shutdown-sessions",
  };
}

function reader({ bind, readPort, lag, soft }: RenderChoices, at: number): Pool {
  return {
    kind: "read",
    bind: hostPort({ host: bind, port: readPort + at * portStep }),
    check: `replica?lag=${lag}${soft ? "&miss=404" : ""}`,
    lines: ["    balance roundrobin"],
    rules: soft ? ["    http-check disable-on-404"] : [],
    // What is no soft no is a hard one: then sessions have nothing to stay for.
    server: `inter 1s fastinter 200ms rise 2 fall 3${soft ? " on-marked-down shutdown-sessions" : ""}`,
  };
}

function pool(
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
