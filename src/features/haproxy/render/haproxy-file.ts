import { haproxyPools, type HaproxyPool } from "./haproxy-pool.ts";
import { checkWords, clusterSections, directWords } from "./haproxy-pools.ts";
import { hostPort } from "../../../core/command/render/edges.ts";
import type { RenderOptions } from "../../../core/command/render/options.ts";
import type { AgentChecks } from "../../../core/command/render/render-target.ts";
import { headComments } from "../../../core/command/render/member-comments.ts";
import type { BackendNode, TargetCluster, Targets } from "../../../core/command/render/targets.ts";
import { resolving } from "../../../core/command/render/resolving.ts";

/**
 * Renders an HAProxy configuration in the shape of config/examples/haproxy.cfg: the checks go through `listen rolecall`
 * to the first instance of rolecall that is ready, and while none is, the nodes' own checks decide about new sessions.
 * So an instance of rolecall that is restarted, killed or frozen ends no session (docs/haproxy.md, "What happens when",
 * 1.5 to 1.7; measured with one and with two instances).
 * @param agent how it asks the agents of rolecall; `null`: it does not
 * @throws CommandError (RC001) if two listeners would have the same port
 */
export function renderHaproxy(targets: Targets, given: RenderOptions, agent: AgentChecks | null): string {
  const { clusters, edges } = targets;
  const options = { ...given, statsPort: given.statsPort ?? usualStatsPort };
  const pools = haproxyPools(targets, options);
  const poolsOf = ({ name }: TargetCluster): readonly HaproxyPool[] => pools.filter(({ cluster }) => cluster === name);
  const rendered = clusters.filter((cluster) => poolsOf(cluster).length > 0);
  return [
    "# Rendered by rolecall for HAProxy 2.6 or later. Validate it: haproxy -c -f THIS_FILE",
    ...headComments(targets),
    ...balancersSection(targets, pools, options),
    ...globalSection(options),
    ...defaultsSection(options),
    ...checkListener(targets, options),
    ...readyBackend(options, edges.length),
    ...(agent?.proxy ?? []),
    ...rendered.flatMap((cluster, index) =>
      clusterSections(cluster, poolsOf(cluster), {
        options,
        agent,
        hasSecondEdge: edges.length > 1,
        isExplained: index === 0,
      }),
    ),
    "",
  ].join("\n");
}

/** The section of rolecall's configuration that makes it push to this HAProxy, as a comment (docs/reaction-time.md). */
function balancersSection(
  { clusters, edges }: Targets,
  pools: readonly HaproxyPool[],
  options: RenderOptions,
): readonly string[] {
  if (options.runtimeSocket === null) return [];
  const hasSecondEdge = edges.length > 1;
  const wordsOf = (pool: HaproxyPool): string | null =>
    options.followsMembers ? checkWords(pool, { options, hasSecondEdge }) : null;
  return [
    "#",
    "# Add this to the configuration of rolecall, and it sets the servers of this HAProxy at once when a verdict changes.",
    "# Its user needs write permission on the socket.",
    "#",
    "# balancers:",
    "#   - haproxy:",
    `#       socket: ${options.runtimeSocket}`,
    "#       backends:",
    ...clusters
      .filter(({ nodes }) => nodes.length > 0)
      .flatMap(({ name, nodes }) => {
        const own = pools.filter(({ cluster }) => cluster === name);
        return [
          ...own.map((pool) => pushedBackend(pool.backend, pool.judgedBy, wordsOf(pool))),
          ...(options.followsMembers ? followingFallback(own, nodes) : []),
        ];
      }),
    "",
  ];
}

/** The backends of the fallback: they get servers, too, for the time without any rolecall. */
function followingFallback(pools: readonly HaproxyPool[], nodes: readonly BackendNode[]): readonly string[] {
  const lines = pools.flatMap(({ kind, cluster, backend, directCheck: check }) => {
    const words = directWords(kind, nodes);
    return words === null ? [] : [pushedBackend(`${backend}_direct`, { cluster, check }, words)];
  });
  if (lines.length > 0) return lines;
  const names = pools.map(({ backend }) => `${backend}_direct`).join(", ");
  return [`#         # ${names}: nodes differ in their API, so render again for new ones.`];
}

/** @param words those of the servers that rolecall adds; `null`: it adds none */
function pushedBackend(name: string, judgedBy: HaproxyPool["judgedBy"], words: string | null): string {
  const keys = { name, ...judgedBy, ...(words === null ? {} : { follow_members: words }) };
  const written = Object.entries(keys).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `#         - { ${written.join(", ")} }`;
}

/** Where the packages of Debian and Ubuntu have the socket for commands. */
const distributionSocket = "/run/haproxy/admin.sock";

/** With the settings of /etc/haproxy/haproxy.cfg in Debian 12 and Ubuntu 24.04, which this file replaces. */
function globalSection({ runtimeSocket, isBare }: RenderOptions): readonly string[] {
  const socket = runtimeSocket ?? (isBare ? null : distributionSocket);
  return [
    "global",
    ...(isBare
      ? []
      : [
          "  # As in the file of Debian's package, which this one can replace.",
          "  log /dev/log local0",
          "  log /dev/log local1 notice",
          "  chroot /var/lib/haproxy",
          "  user haproxy",
          "  group haproxy",
          "  daemon",
        ]),
    ...(socket === null ? [] : [`  stats socket ${socket} mode 660 level admin`, "  stats timeout 30s"]),
    "  spread-checks 3",
  ];
}

/** The port of HAProxy's statistics in its documentation. */
const usualStatsPort = 8404;

function defaultsSection({ statsPort, isBare }: RenderOptions): readonly string[] {
  return [
    "",
    "defaults",
    "  mode tcp",
    ...(isBare ? [] : ["  log global", "  option dontlognull"]),
    "  timeout connect 2s",
    "  # An idle session is closed after this time. Raise it if your clients keep idle sessions for longer.",
    "  timeout client 30m",
    "  timeout server 30m",
    "  timeout check 2s",
    "  # A server that has just crashed refuses connections before its check says so: the next try goes to another one.",
    "  option redispatch 1",
    ...(statsPort === "none"
      ? []
      : [
          "",
          `# The state of every server: http://127.0.0.1:${statsPort}/ for people, /;csv for programs.`,
          "frontend stats",
          "  no log",
          `  bind 127.0.0.1:${statsPort}`,
          "  mode http",
          "  timeout client 10s",
          "  stats enable",
          "  stats uri /",
        ]),
  ];
}

/** The proxy of the checks. Its answers to checks differ from rolecall's only if no instance can judge. */
function checkListener({ edges }: Targets, { checkPort }: RenderOptions): readonly string[] {
  const advice =
    edges.length > 1
      ? "# Checks go through this proxy to an instance of rolecall that is ready: the first, else the next."
      : "# Checks go through this proxy to rolecall. Give render --edge twice to have a second instance here.";
  return [
    "",
    advice,
    "listen rolecall",
    `  bind 127.0.0.1:${checkPort}`,
    "  mode http",
    "  # Not one line for each check. What the checks decide is in the log of the pools.",
    "  no log",
    "  # A check has 2 s. A frozen instance takes 300 ms of them; then the check is sent again, to the next instance.",
    "  timeout connect 250ms",
    "  timeout client 5s",
    "  timeout server 300ms",
    "  timeout check 250ms",
    "  retries 4",
    "  option redispatch 1",
    "  retry-on conn-failure empty-response response-timeout",
    "  # Each check opens a new connection to an instance. If a reused connection failed, HAProxy would close the",
    "  # connection of the check without a response, and the 404 below would not be sent.",
    "  http-reuse never",
    "  # /readyz reports rolecall only, never a database: it is 503 while rolecall stops, or reaches no node.",
    "  option httpchk GET /readyz",
    "  http-check expect status 200",
    "  # If no instance answers (the response is HAProxy's own), or an instance reaches no node of the cluster (500),",
    "  # there is no evidence against a database. A 404 drains the server: it keeps its sessions and gets no new ones.",
    "  http-after-response set-status 404 if { status 502:504 } !{ res.hdr(X-Rolecall-Node) -m found }",
    "  http-after-response set-status 404 if { status 500 }",
    "  # One refused connection is enough to try the next instance.",
    "  default-server check inter 200ms fall 2 rise 2 observe layer4 error-limit 1 on-error mark-down" +
      resolving(edges.map(({ host }) => host)),
    ...edges.map((edge, at) => `  server rolecall${at + 1} ${hostPort(edge)}${at === 0 ? "" : " backup"}`),
  ];
}

/** Tells the frontends when they may use rolecall's verdicts again. */
function readyBackend({ checkPort }: RenderOptions, edges: number): readonly string[] {
  // Longer than the rise of a server in the pools: 2 s with one instance (haproxy-pools.ts), else 0.6 s.
  const rise = edges > 1 ? 6 : 10;
  return [
    "",
    `# UP ${rise / 4} s after an instance is ready: by then each pool below has been checked again. Until then the fallback`,
    "# takes new sessions, or they would find no server.",
    "backend rolecall_ready",
    "  option httpchk GET /readyz",
    "  http-check expect status 200",
    `  server rolecall 127.0.0.1:${checkPort} check inter 250ms rise ${rise} fall 1`,
  ];
}
