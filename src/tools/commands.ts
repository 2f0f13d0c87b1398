/** The commands that need no running server, in the order of the help. */
import { doctorExamples, doctorOptions, featureChecks, featureServerChecks } from "../app/registry/doctor.ts";
import { featureAgentChecks, featureTargets, renderOrder } from "../app/registry/render.ts";
import type { CommandSpec } from "../core/command/framework/command.ts";
import type { OptionSpec } from "../core/command/framework/command-description.ts";
import { clusterOption, nodeCaOption, serverOptions, sourceOptions } from "../core/command/framework/options.ts";

/** Commands that simulate clusters. */
export const simulationCommands: readonly CommandSpec[] = [
  {
    name: "demo",
    summary: "try rolecall on a simulated cluster: needs no file, prints what to try",
    about:
      "Simulates a cluster of three nodes, serves its health checks, and prints commands to try: kill, freeze, detach,\n" +
      "lag, two primaries, a switchover, and how to undo each. Needs no configuration file. Listens on 127.0.0.1 only,\n" +
      "on the usual ports or, where they are taken, on free ones. Ctrl-C ends everything.",
    options: [
      { name: "clusters", value: "N", help: "number of clusters, 1 to 100 (default 1)" },
      {
        name: "port",
        value: "PORT",
        help: "port of the health checks (default 8008, or a free one); 0: any free ports for everything",
      },
      { name: "log-level", value: "LEVEL", help: "trace, debug, info, warn, error, fatal or silent (default warn)" },
    ],
    examples: ["rolecall demo", "rolecall demo --clusters 3 --log-level info"],
    checks: [{ id: "service", required: true }],
    isService: true,
    load: async () => (await import("./demo/demo.ts")).demo,
  },
  {
    name: "simulate",
    summary: "run a simulated cluster for trials",
    about:
      "Simulates a cluster: serves the API of its nodes with the management calls, and injects faults on demand:\n" +
      "kill, freeze, hang, slow, garbage, lag, detach and claim, by POST /sim/{node}/{fault}. POST /sim/{node}/heal\n" +
      "undoes all faults of a node, POST /sim/heal those of all nodes. GET / on the port before the first node's lists\n" +
      "every fault with a command.",
    options: [
      { name: "nodes", value: "N", help: "number of nodes (default 3)" },
      {
        name: "port",
        value: "PORT",
        help: "port of the first node, the other nodes use the next ones; 0: any free ports (default 18008)",
      },
      { name: "host", value: "ADDRESS", help: "address to listen on (default 127.0.0.1)" },
      { name: "scope", value: "NAME", help: "name of the cluster (default demo)" },
      {
        name: "vocabulary",
        value: "NAMES",
        choices: ["patroni", "neutral"],
        help: "names in documents and metrics: patroni or neutral (default patroni)",
      },
      { name: "keep-alive", help: "HTTP/1.1 with keep-alive instead of HTTP/1.0, which real nodes use" },
      { name: "ttl", value: "SECONDS", help: "TTL of the leader lock (default 30)" },
      { name: "loop-wait", value: "SECONDS", help: "interval of the HA loop (default 10)" },
      { name: "wal-rate", value: "BYTES", help: "WAL written per second (default 262144)" },
      { name: "switchover", value: "MS", help: "approximate duration of a switchover (default 2000)" },
      {
        name: "synchronous",
        value: "MODE",
        choices: ["off", "on", "quorum"],
        help: "synchronous mode: off, on or quorum (default off)",
      },
      { name: "standby-cluster", help: "simulate a standby cluster" },
    ],
    examples: ["rolecall simulate --nodes 5 --port 0"],
    checks: [{ id: "service", required: true }],
    isService: true,
    load: async () => (await import("./demo/simulate.ts")).simulate,
  },
];

/** `rolecall compare`: the answers of nodes beside those of rolecall. */
export const compareCommand: CommandSpec = {
  name: "compare",
  summary: "shadow mode: compare the answers of nodes and of rolecall",
  about:
    "Sends the same checks to every node and to a running rolecall. Counts agreements, differences by reason, and\n" +
    "which side followed a change first. With --from-haproxy, takes the checks from that file and lists those\n" +
    "that nodes answer but rolecall rejects.",
  options: [
    { name: "config", value: "FILE", help: "the configuration with the clusters" },
    {
      name: "discover",
      value: "URL[,URL]",
      multiple: true,
      help: "one cluster, discovered through these nodes, instead of --config",
    },
    nodeCaOption,
    { name: "set", value: "PATH=VALUE", multiple: true, help: "override one configuration key; may be repeated" },
    { name: "for", value: "TIME", help: "how long, such as 30s, 30m, 14d (default 1m)" },
    {
      name: "state",
      value: "FILE",
      help: "keep the counts in this file, and go on with those that it has; --for then counts all runs",
    },
    { name: "interval", value: "TIME", help: "interval of the checks (default 1s)" },
    { name: "members-interval", value: "TIME", help: "interval of member list updates (default 1m)" },
    {
      name: "check",
      value: "CHECK",
      completes: "check",
      multiple: true,
      help: "a check to compare; may be repeated (default /primary, /replica, /read-only)",
    },
    { name: "from-haproxy", value: "FILE", help: "compare the checks of this haproxy.cfg, and validate them" },
    clusterOption,
    ...serverOptions,
  ],
  examples: ["rolecall compare --config rolecall.yaml --for 14d --from-haproxy /etc/haproxy/haproxy.cfg"],
  checks: [
    { id: "nodes", required: true },
    { id: "rolecall", required: true },
    { id: "duration", required: true },
    { id: "haproxy_checks", required: false },
  ],
  load: async () => (await import("./compare/compare.ts")).compare,
};

/** `rolecall doctor`: whether a whole set-up is as it should be. */
export const diagnosisCommand: CommandSpec = {
  name: "doctor",
  summary: "check a whole setup: configuration, nodes, clocks, TLS, listeners",
  about:
    "Checks the configuration, every node, versions, clocks, scopes and system identifiers, max_age against the\n" +
    "leader lock, listeners, balancers, the rendered HAProxy configuration (haproxy -c), TLS expiry and guards.\n" +
    "docs/rules.md lists the rules.",
  options: [...sourceOptions, clusterOption, ...doctorOptions],
  examples: [
    "rolecall doctor --config /etc/rolecall/rolecall.yaml",
    ...doctorExamples,
    "rolecall doctor --config rolecall.yaml --policy reviewed.yaml --format json",
  ],
  checks: [
    { id: "configuration", required: true },
    { id: "nodes", required: true },
    { id: "versions", required: true },
    { id: "clocks", required: true },
    { id: "identity", required: true },
    { id: "max_age", required: true },
    { id: "listeners", required: true },
    { id: "guards", required: true },
    { id: "tls", required: true },
    ...featureChecks.map(({ id }) => ({ id, required: false })),
    ...featureServerChecks.flatMap(({ id, isListed }) => (isListed ? [{ id, required: false }] : [])),
  ],
  load: async () => (await import("./doctor/doctor.ts")).doctor,
};

/** What can be rendered, in the order of the help. */
const kinds = [
  ...new Set([...featureTargets.map(({ kind }) => kind), "envoy", "prometheus", "alerts", "dashboard", "patroni"]),
].toSorted((one, other) => renderOrder.kinds.indexOf(one) - renderOrder.kinds.indexOf(other));

const balancerOptions: readonly OptionSpec[] = [
  {
    name: "edge",
    value: "HOST:PORT[,HOST:PORT]",
    multiple: true,
    help:
      "where load balancers reach the health listener of each rolecall; may be repeated " +
      "(default: the first health listener, or port 8008 of the host of --server)",
  },
  { name: "bind", value: "ADDRESS", help: "the address that the load balancer listens on (default 127.0.0.1)" },
  {
    name: "write-port",
    value: "PORT",
    help:
      "write port of the first cluster; each further cluster adds 10. haproxy: port of the first pool of the " +
      "configuration; each further pool adds 1 (default 5000)",
  },
  { name: "read-port", value: "PORT", help: "read port of the first cluster, without pools (default 5001)" },
  {
    name: "check-port",
    value: "PORT",
    help: "port on 127.0.0.1 through which the load balancer sends its checks to rolecall (default 8007)",
  },
  {
    name: "stats-port",
    value: "PORT",
    help: "port on 127.0.0.1 for HAProxy's statistics (default: none) or Envoy's admin interface (default 9901)",
  },
  { name: "lag", value: "SIZE", help: "maximum lag of a replica in the read pool, and without alert (default 10MB)" },
  {
    name: "lag-time",
    value: "TIME",
    help: "maximum age of a replica's data in the read pool, and without alert, or none (default 10s)",
  },
  {
    name: "zone",
    value: "ZONE",
    help:
      "the zone of this load balancer (default: none). Envoy prefers its nodes; HAProxy sends reads to those of other " +
      "zones only while none of it is fit",
  },
];

/** These and those of features, in the order of the help. */
const allBalancerOptions = [
  ...balancerOptions,
  ...featureTargets.flatMap(({ options }) => options),
  ...featureAgentChecks.flatMap(({ options }) => options),
].toSorted((one, other) => renderOrder.options.indexOf(one.name) - renderOrder.options.indexOf(other.name));

const monitoringOptions: readonly OptionSpec[] = [
  {
    name: "admin",
    value: "HOST:PORT[,HOST:PORT]",
    multiple: true,
    help: "where Prometheus reaches the metrics of each rolecall; may be repeated (default: the first admin listener)",
  },
  {
    name: "node-metrics",
    value: "SOURCE",
    choices: ["none", "rolecall", "nodes"],
    help: "prometheus: where the metrics of the nodes come from: the first rolecall or the nodes (default none)",
  },
  { name: "job", value: "NAME", help: "the Prometheus job that scrapes rolecall (default rolecall)" },
  {
    name: "docs",
    value: "URL",
    help: "alerts: where the documentation is, for the links of the alerts (default docs/)",
  },
];

const hintOptions: readonly OptionSpec[] = [
  {
    name: "hint-to",
    value: "URL[,URL]",
    multiple: true,
    help:
      "patroni: where database hosts reach the admin listener of each rolecall; may be repeated " +
      "(default: the first admin listener with hint_tokens)",
  },
  {
    name: "hint-script",
    value: "FILE",
    help: "patroni: where database hosts have the hint script (default /etc/patroni/rolecall-hint)",
  },
  {
    name: "hint-token-file",
    value: "FILE",
    help: "patroni: where database hosts have the hint token (default /etc/patroni/rolecall-hint.token)",
  },
  { name: "hint-ca", value: "FILE", help: "patroni: the CA that signs the certificates of the admin listeners" },
  {
    name: "pause",
    help: "patroni: before the leader stops, the script also lets rolecall hold the clients of poolers, for at most 1 s",
  },
  {
    name: "pause-token-file",
    value: "FILE",
    help: "patroni: where database hosts have the token for --pause (default /etc/patroni/rolecall-pause.token)",
  },
];

/** `rolecall render`: the configuration of other programs. */
export const renderCommand: CommandSpec = {
  name: "render",
  summary: "write configuration for load balancers, Prometheus, Grafana or Patroni",
  about:
    "Writes configuration for the clusters of a configuration file, or for those that a running rolecall monitors.\n" +
    "alerts and dashboard are the same for all clusters, and need neither. patroni prints a script by which Patroni\n" +
    "announces a change of the leader, with the settings that call it.",
  positionals: { usage: kinds.join("|"), least: 1, most: 1, choices: kinds },
  options: [
    ...allBalancerOptions,
    ...monitoringOptions,
    ...hintOptions,
    clusterOption,
    ...serverOptions,
    ...sourceOptions,
  ],
  examples: [
    ...featureTargets.flatMap(({ examples }) => examples),
    "rolecall render prometheus --server http://127.0.0.1:9108",
    "rolecall render alerts > rolecall-rules.yml",
    "rolecall render patroni --config rolecall.yaml --hint-to https://10.0.0.11:9109,https://10.0.0.12:9109",
    "rolecall render patroni --pause --config rolecall.yaml --hint-to https://10.0.0.11:9109",
  ],
  checks: [{ id: "clusters", required: true }],
  findingsTo: "stderr",
  load: async () => (await import("./render/render.ts")).render,
};

/** `rolecall completion`: the scripts for shells. */
export const completionCommand: CommandSpec = {
  name: "completion",
  summary: "print a completion script for bash, zsh or fish",
  about:
    "Prints a shell script that completes commands, options and their values, routes, files, contexts, and the names\n" +
    "of the nodes, clusters and members of the fleet that the running rolecall knows.",
  positionals: { usage: "bash|zsh|fish", least: 1, most: 1, choices: ["bash", "zsh", "fish"] },
  options: [],
  examples: [
    "source <(rolecall completion bash)",
    "rolecall completion fish > ~/.config/fish/completions/rolecall.fish",
  ],
  checks: [],
  findingsTo: "stderr",
  load: async () => (await import("./completion/completion.ts")).completion,
};

/** What the completion scripts run for names that only a running rolecall or the contexts file knows. */
export const completeCommand: CommandSpec = {
  name: "__complete",
  summary: "print names for shell completion",
  about:
    "Prints the names of nodes, clusters, members of the fleet or contexts, one on each line; nothing if they are not\n" +
    "known in time. Finds the server as the command line LINE would.",
  positionals: {
    usage: "node|cluster|member|context [LINE]",
    least: 1,
    most: 2,
    choices: ["node", "cluster", "member", "context"],
  },
  options: [],
  examples: ["rolecall __complete node 'rolecall status --server 10.0.0.1:8008 --node '"],
  checks: [],
  load: async () => (await import("./completion/complete.ts")).complete,
};
