/** The commands that need no running server, in the order of the help. */
import { doctorExamples, doctorOptions, featureChecks, featureServerChecks } from "../app/registry/doctor.ts";
import { featureAgentChecks, featureTargets, renderOrder } from "../app/registry/render.ts";
import type { RenderTexts } from "../core/command/render/render-target.ts";
import type { CommandSpec } from "../core/command/framework/command.ts";
import type { OptionSpec } from "../core/command/framework/command-description.ts";
import { verbCommand, withVerbs } from "../core/command/framework/verbs.ts";
import { clusterOption, nodeCaOption, serverOptions, sourceOptions } from "../core/command/framework/options.ts";

/** The simulated cluster alone. */
const simulation: CommandSpec = {
  name: "demo cluster",
  summary: "run a simulated cluster alone, for trials",
  about:
    "Simulates a cluster without a rolecall: serves the API of its nodes with the management calls, and injects faults\n" +
    "on demand: kill, freeze, hang, slow, garbage, lag, detach and claim, by POST /sim/{node}/{fault}. POST\n" +
    "/sim/{node}/heal undoes all faults of a node, POST /sim/heal those of all nodes. GET / on the port before the first\n" +
    "node's lists every fault with a command.",
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
    { name: "ttl", value: "TIME", help: "TTL of the leader lock (default 30s)" },
    { name: "loop-wait", value: "TIME", help: "interval of the HA loop (default 10s)" },
    { name: "wal-rate", value: "SIZE", help: "WAL written per second (default 256kB)" },
    { name: "switchover", value: "TIME", help: "approximate duration of a switchover (default 2s)" },
    {
      name: "synchronous",
      value: "MODE",
      choices: ["off", "on", "quorum"],
      help: "synchronous mode: off, on or quorum (default off)",
    },
    { name: "standby-cluster", help: "simulate a standby cluster" },
  ],
  examples: ["rolecall demo cluster --nodes 5 --port 0"],
  checks: [{ id: "service", required: true }],
  isService: true,
  load: async () => (await import("./demo/simulate.ts")).simulate,
};

/** `rolecall demo`: simulated clusters, with a rolecall in front of them or alone. */
export const demoCommand: CommandSpec = withVerbs(
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
  [simulation],
);

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

/** What `doctor` is where nothing runs: it reads files, and asks nobody. */
const offlineDiagnosis: CommandSpec = {
  name: "doctor --offline",
  summary: "validate a configuration and list every problem with its line, without contacting any server",
  about:
    "--offline reads the configuration alone and reports every problem with it, and with the certificates, keys and token\n" +
    "files that it names: before anything runs, or where no node can be reached.",
  positionals: { usage: "FILE", least: 0, most: 1, completes: "file" },
  options: [
    { name: "offline", help: "read the configuration and the files that it names; ask no node and no rolecall" },
    { name: "no-files", help: "with --offline: do not read certificates, keys and tokens either" },
    { name: "config", value: "FILE", help: "the same as FILE" },
    { name: "set", value: "PATH=VALUE", multiple: true, help: "override one key of the file; may be repeated" },
  ],
  examples: ["rolecall doctor /etc/rolecall/rolecall.yaml --offline"],
  checks: [
    { id: "configuration", required: true },
    { id: "files", required: false },
  ],
  load: async () => (await import("./doctor/validate.ts")).validate,
};

/** `rolecall doctor`: whether a whole set-up is as it should be. */
export const diagnosisCommand: CommandSpec = {
  name: "doctor",
  summary: "check a configuration and the whole setup: nodes, clocks, TLS, listeners",
  about:
    "Checks the configuration, every node, versions, clocks, scopes and system identifiers, max_age against the\n" +
    "leader lock, listeners, balancers, the rendered HAProxy configuration (haproxy -c), TLS expiry and guards.\n" +
    "docs/rules.md lists the rules. Environment variables apply as they do for serve.",
  positionals: { usage: "[FILE]", least: 0, most: 1, completes: "file" },
  options: [...sourceOptions, clusterOption, ...doctorOptions],
  examples: [
    "rolecall doctor /etc/rolecall/rolecall.yaml",
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
    { id: "state", required: false },
    ...featureChecks.map(({ id }) => ({ id, required: false })),
    ...featureServerChecks.flatMap(({ id, isListed }) => (isListed ? [{ id, required: false }] : [])),
  ],
  forms: [offlineDiagnosis],
  load: async () => (await import("./doctor/doctor.ts")).doctor,
};

const lagOptions: readonly OptionSpec[] = [
  { name: "lag", value: "SIZE", help: "maximum lag of a replica in the read pool, and without alert (default 10MB)" },
  {
    name: "lag-time",
    value: "TIME",
    help: "maximum age of a replica's data in the read pool, and without alert, or none (default 10s)",
  },
];

const balancerOptions = (texts: RenderTexts["help"]): readonly OptionSpec[] => [
  {
    name: "edge",
    value: "HOST:PORT[,HOST:PORT]",
    multiple: true,
    help:
      "where load balancers reach the health listener of each rolecall; may be repeated " +
      "(default: the first health listener, or port 8008 of the host of --server)",
  },
  { name: "bind", value: "ADDRESS", help: "the address that the load balancer listens on (default 127.0.0.1)" },
  { name: "write-port", value: "PORT", help: texts["write-port"] },
  { name: "read-port", value: "PORT", help: "read port of the first cluster, without pools (default 5001)" },
  {
    name: "check-port",
    value: "PORT",
    help: "port on 127.0.0.1 through which the load balancer sends its checks to rolecall (default 8007)",
  },
  { name: "stats-port", value: "PORT", help: texts["stats-port"] },
  ...lagOptions,
  { name: "zone", value: "ZONE", help: texts.zone },
];

const adminOption: OptionSpec = {
  name: "admin",
  value: "HOST:PORT[,HOST:PORT]",
  multiple: true,
  help: "where Prometheus reaches the metrics of each rolecall; may be repeated (default: the first admin listener)",
};
const nodeMetricsOption: OptionSpec = {
  name: "node-metrics",
  value: "SOURCE",
  choices: ["none", "rolecall", "nodes"],
  help: "where the metrics of the nodes come from: the first rolecall or the nodes (default none)",
};
const jobOption: OptionSpec = {
  name: "job",
  value: "NAME",
  help: "the Prometheus job that scrapes rolecall (default rolecall)",
};
const docsOption: OptionSpec = {
  name: "docs",
  value: "URL",
  help: "where the documentation is, for the links of the alerts (default docs/)",
};

const hintOptions: readonly OptionSpec[] = [
  {
    name: "hint-to",
    value: "URL[,URL]",
    multiple: true,
    help:
      "where database hosts reach the admin listener of each rolecall; may be repeated " +
      "(default: the first admin listener with hint_tokens)",
  },
  {
    name: "hint-script",
    value: "FILE",
    help: "where database hosts have the hint script (default /etc/patroni/rolecall-hint)",
  },
  {
    name: "hint-token-file",
    value: "FILE",
    help: "where database hosts have the hint token (default /etc/patroni/rolecall-hint.token)",
  },
  { name: "hint-ca", value: "FILE", help: "the CA that signs the certificates of the admin listeners" },
  {
    name: "pause",
    help: "before the leader stops, the script also lets rolecall hold the clients of poolers, for at most 1 s",
  },
  {
    name: "pause-token-file",
    value: "FILE",
    help: "where database hosts have the token for --pause (default /etc/patroni/rolecall-pause.token)",
  },
];

/** One kind of what is rendered. */
interface Rendered {
  readonly kind: string;
  readonly summary: string;
  readonly about: string;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly string[];
}

const clusterOptions = [clusterOption, ...serverOptions, ...sourceOptions];
const ofClusters = "\nThe clusters are those of a configuration file, or those that a running rolecall monitors.";

/** The options of a load balancer, those of features among them, in the order of the help. */
function optionsOfBalancer(texts: RenderTexts["help"], brought: readonly OptionSpec[]): readonly OptionSpec[] {
  const own = [...balancerOptions(texts), ...brought].toSorted((one, other) => placeOf(one) - placeOf(other));
  return [...own, ...clusterOptions];
}

function placeOf({ name }: OptionSpec): number {
  return renderOrder.options.indexOf(name);
}

const ofEnvoy: RenderTexts["help"] = {
  "write-port": "write port of the first cluster; each further cluster adds 10 (default 5000)",
  "stats-port": "port on 127.0.0.1 for the admin interface (default 9901)",
  zone: "the zone of this load balancer, whose nodes it prefers (default: none)",
};

/** What no feature brings. */
const ownRendered: readonly Rendered[] = [
  {
    kind: "envoy",
    summary: "write the configuration of Envoy",
    about: `Writes envoy.yaml: pools for writes and reads, and how Envoy asks rolecall.${ofClusters}`,
    options: optionsOfBalancer(
      ofEnvoy,
      featureTargets.filter(({ kind }) => kind === "envoy").flatMap(({ options }) => options),
    ),
    examples: ["rolecall render envoy --config rolecall.yaml > envoy.yaml"],
  },
  {
    kind: "prometheus",
    summary: "write what Prometheus scrapes",
    about: `Writes scrape_configs of Prometheus.${ofClusters}`,
    options: [adminOption, nodeMetricsOption, jobOption, ...clusterOptions],
    examples: ["rolecall render prometheus --server http://127.0.0.1:9108"],
  },
  {
    kind: "alerts",
    summary: "write the alert rules for Prometheus",
    about: "Writes alert rules. They are the same for all clusters, and need neither a file nor a running rolecall.",
    options: [...lagOptions, jobOption, docsOption],
    examples: ["rolecall render alerts > rolecall-rules.yml"],
  },
  {
    kind: "dashboard",
    summary: "write a dashboard for Grafana",
    about: "Writes a dashboard. It is the same for all clusters, and needs neither a file nor a running rolecall.",
    options: [jobOption],
    examples: ["rolecall render dashboard > rolecall.json"],
  },
  {
    kind: "patroni",
    summary: "write a script by which Patroni announces a change of the leader",
    about: `Writes a script by which Patroni announces a change of the leader, and the settings that call it.${ofClusters}`,
    options: [...hintOptions, ...clusterOptions],
    examples: [
      "rolecall render patroni --config rolecall.yaml --hint-to https://10.0.0.11:9109,https://10.0.0.12:9109",
      "rolecall render patroni --pause --config rolecall.yaml --hint-to https://10.0.0.11:9109",
    ],
  },
];

/** What features bring, beside variants of those. */
const broughtRendered: readonly Rendered[] = featureTargets.flatMap(({ kind, texts, options, examples }) =>
  texts === null
    ? []
    : {
        kind,
        summary: texts.summary,
        about: `${texts.about}${ofClusters}`,
        options: optionsOfBalancer(texts.help, [...options, ...featureAgentChecks.flatMap((agent) => agent.options)]),
        examples,
      },
);

const rendered = [...ownRendered, ...broughtRendered].toSorted(
  (one, other) => renderOrder.kinds.indexOf(one.kind) - renderOrder.kinds.indexOf(other.kind),
);

/** `rolecall render`: the configuration of other programs. */
export const renderCommand: CommandSpec = verbCommand({
  name: "render",
  summary: "write configuration for load balancers, Prometheus, Grafana or Patroni",
  about: "Writes the configuration of other programs to stdout.",
  checks: [{ id: "clusters", required: true }],
  verbs: rendered.map(({ kind, ...texts }) => ({
    name: `render ${kind}`,
    documentName: "render",
    ...texts,
    // Version 0.1 took every option for every kind.
    unusedOptions: rendered.flatMap(({ options }) => options),
    checks: [{ id: "clusters", required: true }],
    findingsTo: "stderr",
    load: async () => {
      const { render } = await import("./render/render.ts");
      return (context) => render(context, kind);
    },
  })),
});

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
