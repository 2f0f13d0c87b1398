/** The pools of the bench: what each balancer asks, and what rolecall's configuration adds for it. */
import { plainHaproxy, withRuntimeSocket, type PlainChecks } from "./balancer-process.ts";
import type { EdgeKeys } from "./edge-process.ts";

/** What the descriptions below need to know of the lab. */
export interface PoolContext {
  readonly nodes: readonly { readonly name: string; readonly databasePort: number; readonly apiPort: number }[];
  readonly etcdUrl: string;
  readonly agentPort: number;
  /** A file with the token of hints. */
  readonly hintTokenFile: string;
  /** The first port of the exporters, one a node. */
  readonly exporterPort: number;
  /** The sockets of the HAProxy processes of a pool. */
  readonly sockets: (pool: string) => readonly string[];
}

/** An instance of rolecall: all pools that name it share it. */
export interface EdgePlan {
  readonly name: string;
  readonly keys: (context: PoolContext) => EdgeKeys;
  /** Whether Patroni calls back to this instance. */
  readonly hasHints?: boolean;
}

export interface PoolPlan {
  readonly name: string;
  readonly balancer: "haproxy" | "envoy";
  /** What it is, for the report. */
  readonly title: string;
  /** Who answers its checks: an instance of rolecall, the nodes' own API, or exporters. */
  readonly checks:
    | { readonly edge: string; readonly instances: 1 | 2 }
    | { readonly plain: "api" | "exporter"; readonly pace: string };
  /** More options of `rolecall render`. */
  readonly renderOptions?: (context: PoolContext) => Readonly<Record<string, number>>;
  /** Changes the rendered configuration. */
  readonly alter?: (configuration: string, context: PoolContext & { readonly socket: string }) => string;
}

const checksOnly: EdgeKeys = {};
const dcs = ({ etcdUrl }: PoolContext): object => ({ dcs: { etcd: [etcdUrl], prefix: "/service" } });
const runtime = ({ sockets }: PoolContext, pool: string): object => ({
  balancers: sockets(pool).map((socket) => ({
    haproxy: {
      socket,
      cut_sessions: true,
      backends: [
        { name: "demo_write", check: "/primary" },
        { name: "demo_read", check: "/replica?lag=10MB&lag_time=10s&miss=404" },
      ],
    },
  })),
});

/** The instance behind the first one of every pool: the backup that `render` places there. */
export const secondEdge = "second";

export const edgePlans: readonly EdgePlan[] = [
  { name: secondEdge, keys: () => checksOnly },
  { name: "checks", keys: () => checksOnly },
  {
    name: "hints",
    keys: ({ hintTokenFile }) => ({ admin: { hint_tokens: [hintTokenFile] } }),
    hasHints: true,
  },
  { name: "dcs", keys: (context) => ({ cluster: dcs(context) }) },
  { name: "runtime", keys: (context) => ({ top: runtime(context, "rolecall-runtime") }) },
  { name: "agent", keys: ({ agentPort }) => ({ listen: [{ port: agentPort, dialect: "agent" }] }) },
  {
    name: "dcs-runtime",
    keys: (context) => ({ cluster: dcs(context), top: runtime(context, "rolecall-dcs-runtime") }),
  },
];

const socketed: NonNullable<PoolPlan["alter"]> = (configuration, { socket }) =>
  withRuntimeSocket(configuration, socket);

/** The pool that all others are compared with. */
export const baseline = "plain-500";

export const poolPlans: readonly PoolPlan[] = [
  {
    name: baseline,
    balancer: "haproxy",
    title: "Patroni's checks, inter 500ms rise 2 fall 1",
    checks: { plain: "api", pace: "inter 500ms rise 2 fall 1" },
  },
  {
    name: "plain-1s",
    balancer: "haproxy",
    title: "Patroni's checks, inter 1s rise 3 fall 2",
    checks: { plain: "api", pace: "inter 1s rise 3 fall 2" },
  },
  {
    name: "pg_exporter",
    balancer: "haproxy",
    title: "pg_exporter's /primary and /replica, inter 500ms rise 2 fall 1",
    checks: { plain: "exporter", pace: "inter 500ms rise 2 fall 1" },
  },
  {
    name: "rolecall",
    balancer: "haproxy",
    title: "checks through two instances of rolecall, configuration as rendered",
    checks: { edge: "checks", instances: 2 },
  },
  {
    name: "rolecall-one",
    balancer: "haproxy",
    title: "checks through one instance of rolecall, configuration as rendered",
    checks: { edge: "checks", instances: 1 },
  },
  {
    name: "rolecall-hints",
    balancer: "haproxy",
    title: "as `rolecall`, and hints from Patroni's callbacks",
    checks: { edge: "hints", instances: 2 },
  },
  {
    name: "rolecall-dcs",
    balancer: "haproxy",
    title: "as `rolecall`, and the DCS watch",
    checks: { edge: "dcs", instances: 2 },
  },
  {
    name: "rolecall-runtime",
    balancer: "haproxy",
    title: "as `rolecall`, and the Runtime API",
    checks: { edge: "runtime", instances: 2 },
    alter: socketed,
  },
  {
    name: "rolecall-agent",
    balancer: "haproxy",
    title: "as `rolecall-one`, and the agent check of read pools",
    checks: { edge: "agent", instances: 1 },
    renderOptions: ({ agentPort }) => ({ agent: agentPort }),
  },
  {
    name: "rolecall-dcs-runtime",
    balancer: "haproxy",
    title: "as `rolecall`, with the DCS watch and the Runtime API",
    checks: { edge: "dcs-runtime", instances: 2 },
    alter: socketed,
  },
  {
    name: "envoy",
    balancer: "envoy",
    title: "Envoy, checks through two instances of rolecall, configuration as rendered",
    checks: { edge: "checks", instances: 2 },
  },
];

/** The configuration of a pool whose checks rolecall does not answer. */
export function plainConfiguration(
  { nodes, exporterPort }: PoolContext,
  ports: { readonly write: number; readonly read: number },
  { plain, pace }: { readonly plain: "api" | "exporter"; readonly pace: string },
): string {
  const checks: PlainChecks =
    plain === "api"
      ? { pace, checkPort: (at) => nodes[at]?.apiPort ?? 0, readCheck: "/replica?lag=10MB" }
      : { pace, checkPort: (at) => exporterPort + at, readCheck: "/replica" };
  return plainHaproxy(nodes, ports, checks);
}
