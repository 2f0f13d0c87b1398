/** The pools of the bench: what each balancer asks, and what rolecall's configuration adds for it. */
import { plainHaproxy, withRuntimeSocket } from "./balancer-process.js";
const checksOnly = {};
const dcs = ({ etcdUrl }) => ({ dcs: { etcd: [etcdUrl], prefix: "/service" } });
const runtime = ({ sockets }, pool) => ({
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
export const edgePlans = [
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
const socketed = (configuration, { socket }) => withRuntimeSocket(configuration, socket);
/** The pool that all others are compared with. */
export const baseline = "plain-500";
export const poolPlans = [
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
        title: "rolecall as rendered, two instances: checks only",
        checks: { edge: "checks", instances: 2 },
    },
    {
        name: "rolecall-one",
        balancer: "haproxy",
        title: "rolecall as rendered, one instance: checks only",
        checks: { edge: "checks", instances: 1 },
    },
    {
        name: "rolecall-hints",
        balancer: "haproxy",
        title: "and hints from Patroni's callbacks",
        checks: { edge: "hints", instances: 2 },
    },
    {
        name: "rolecall-dcs",
        balancer: "haproxy",
        title: "and the DCS watch",
        checks: { edge: "dcs", instances: 2 },
    },
    {
        name: "rolecall-runtime",
        balancer: "haproxy",
        title: "and the Runtime API",
        checks: { edge: "runtime", instances: 2 },
        alter: socketed,
    },
    {
        name: "rolecall-agent",
        balancer: "haproxy",
        title: "and the agent check of read pools, one instance",
        checks: { edge: "agent", instances: 1 },
        renderOptions: ({ agentPort }) => ({ agent: agentPort }),
    },
    {
        name: "rolecall-dcs-runtime",
        balancer: "haproxy",
        title: "and the DCS watch with the Runtime API",
        checks: { edge: "dcs-runtime", instances: 2 },
        alter: socketed,
    },
    {
        name: "envoy",
        balancer: "envoy",
        title: "Envoy as rendered, two instances: checks only",
        checks: { edge: "checks", instances: 2 },
    },
];
/** The configuration of a pool whose checks rolecall does not answer. */
export function plainConfiguration({ nodes, exporterPort }, ports, { plain, pace }) {
    const checks = plain === "api"
        ? { pace, checkPort: (at) => nodes[at]?.apiPort ?? 0, readCheck: "/replica?lag=10MB" }
        : { pace, checkPort: (at) => exporterPort + at, readCheck: "/replica" };
    return plainHaproxy(nodes, ports, checks);
}
//# sourceMappingURL=pools.js.map