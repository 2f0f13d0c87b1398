/** The commands of the core, and all commands in the order of the help. */
import { commandOrder, featureCommands } from "../../app/registry/commands.ts";
import type { CommandSpec } from "../../core/command/framework/command.ts";
import type { OptionSpec } from "../../core/command/framework/command-description.ts";
import {
  clusterOption,
  nodeCaOption,
  nodeOption,
  serverOptions,
  sourceOptions,
  watchOption,
  yesOption,
} from "../../core/command/framework/options.ts";
import {
  compareCommand,
  completeCommand,
  completionCommand,
  diagnosisCommand,
  renderCommand,
  simulationCommands,
} from "../../tools/commands.ts";

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Commands that run until a signal stops them. */
const serviceCommands: readonly CommandSpec[] = [
  {
    name: "serve",
    summary: "probe clusters and answer health checks",
    about:
      "Probes clusters in the background and answers health checks from memory.\n" +
      "Signals: SIGTERM drains and exits, SIGINT exits, SIGHUP reloads the configuration.",
    options: [
      { name: "config", value: "FILE", help: "the configuration file (YAML)" },
      {
        name: "discover",
        value: "URL[,URL]",
        multiple: true,
        help: "monitor one cluster, discovered through these nodes; no file is needed",
      },
      nodeCaOption,
      {
        name: "cluster",
        value: "NAME",
        help: "the name and scope of the discovered cluster (default: the scope that its nodes report, else main)",
      },
      {
        name: "listen",
        value: "HOST:PORT",
        multiple: true,
        help: "a listener for health checks (default 127.0.0.1:8008)",
      },
      {
        name: "log-level",
        value: "LEVEL",
        completes: logLevels,
        help: "trace, debug, info, warn, error, fatal or silent",
      },
      {
        name: "set",
        value: "PATH=VALUE",
        multiple: true,
        help: "override one configuration key, such as probe.interval=2s; may be repeated",
      },
    ],
    examples: ["rolecall serve --discover http://10.0.0.1:8008", "rolecall serve --config /etc/rolecall/rolecall.yaml"],
    checks: [{ id: "service", required: true }],
    isService: true,
    load: async () => {
      // In two steps: Node opens the files of one import all at once, more than a low limit of descriptors allows.
      // This command needs only the configuration, which is a third of the files.
      await import("../commands/validate.ts");
      return (await import("../commands/serve.ts")).serve;
    },
  },
];

const untilKnown = "until known, at most attach_window and two probes; 0s: one look";

/** Commands that only read. */
const inspectionCommands: readonly CommandSpec[] = [
  {
    name: "status",
    summary: "show the clusters: roles, lag, age of evidence, routes that each node is fit for",
    about:
      "Shows every cluster, the worst first, under a line that counts them. Queries a running rolecall; with\n" +
      "--config or --discover, probes the nodes once itself. One look cannot show whether a replica is attached:\n" +
      "replica? becomes replica with --for 12s, or while --watch runs. FIT FOR lists routes without a lag limit: a\n" +
      "check such as /replica?lag=1MB may refuse a node that the table calls fit. Below the table: each reason, where\n" +
      "the documentation explains it, and the command to run next. A narrow terminal shows fewer columns.",
    options: [
      { name: "problems", help: "show only the clusters and nodes that are not well" },
      { name: "all", help: "on a terminal: show each cluster, although more than three are ok" },
      {
        name: "sort",
        value: "KEY",
        choices: ["problem", "name", "lag", "age"],
        help: "what is first: the worst, the first name, the highest lag, the oldest evidence (default problem)",
      },
      {
        name: "output",
        short: "o",
        value: "FORM",
        choices: ["wide", "json", "yaml"],
        help: "wide: also host, sync role, version and tags; json, yaml: one cli.result/v1 document",
      },
      {
        name: "watch",
        short: "w",
        help: "refresh the table until q or Ctrl-C, with a sparkline of the lag; it scrolls, sorts and filters",
      },
      { name: "interval", value: "TIME", help: "refresh interval of --watch (default 1s)" },
      watchOption("0s: one look"),
      clusterOption,
      ...serverOptions,
      ...sourceOptions,
    ],
    examples: [
      "rolecall status",
      "rolecall status --problems",
      "rolecall status -o wide --cluster demo",
      "rolecall status --watch --server http://127.0.0.1:9108",
      "rolecall status --discover http://10.0.0.1:8008",
    ],
    checks: [{ id: "overview", required: true }],
    ownFindings: ["RC050", "RC051", "RC052", "RC053", "RC054", "RC055", "RC056", "RC112"],
    load: async () => (await import("../commands/status.ts")).status,
  },
  {
    name: "pools",
    summary: "show the pools: members in order, why a node is out, what refers to each",
    about:
      "Shows each pool of the configuration (docs/pools.md): its nodes in the order in which they get clients, with the\n" +
      "reason of those that are out, and the balancers, poolers and agent listeners that refer to it.",
    positionals: { usage: "[POOL]", least: 0, most: 1 },
    options: serverOptions,
    examples: ["rolecall pools", "rolecall pools orders-read"],
    checks: [{ id: "pools", required: true }],
    load: async () => (await import("../commands/pools.ts")).pools,
  },
  {
    name: "check",
    summary: "run one health check of a node or a whole cluster",
    about:
      "Runs a health check as a load balancer would. Exits with 1 if the node or cluster is unfit, and\n" +
      "with 2 if that is not known: a replica must be watched to see whether it is attached.",
    positionals: { usage: "CHECK", least: 1, most: 1, completes: "check" },
    options: [nodeOption, clusterOption, watchOption(untilKnown), ...serverOptions, ...sourceOptions],
    examples: [
      "rolecall check '/replica?lag=1MB' --node pg2",
      "rolecall check /primary --discover http://10.0.0.1:8008",
    ],
    checks: [{ id: "verdict", required: true }],
    load: async () => (await import("../commands/check.ts")).check,
  },
  {
    name: "explain",
    summary: "explain the verdict of a check, rule by rule, for a node or each node of a cluster",
    about:
      "Without a check, says of each cluster in five lines what is wrong, since when, what clients get, what happens\n" +
      "next and what to do. With a check and --node, lists every rule in order, with its value and limit, the age and\n" +
      "source of the evidence, and the outcome. Without --node, shows the verdict on each node of the cluster, the rule\n" +
      "that decided it, and what would make the node fit. --node without a check explains the check that says most about\n" +
      "it: one of balancers that refuses it, else that of its role.",
    positionals: { usage: "[CHECK]", least: 0, most: 1, completes: "check" },
    options: [nodeOption, clusterOption, watchOption(untilKnown), ...serverOptions, ...sourceOptions],
    examples: [
      "rolecall explain --cluster orders",
      "rolecall explain /primary",
      "rolecall explain --node pg2",
      "rolecall explain '/replica?lag=1MB' --node pg2",
    ],
    checks: [{ id: "rules", required: true }],
    load: async () => (await import("../commands/explain.ts")).explainCheck,
  },
  {
    name: "watch",
    summary: "run a command whenever the node that is fit for a check changes",
    about:
      "Runs COMMAND by /bin/sh -c at the start and whenever the fit nodes change, as a running rolecall judges them. One\n" +
      "run at a time: states that pass while it runs are skipped. A run that fails is repeated after 1 s, then 2 s, up\n" +
      "to every 30 s. Nothing runs without evidence, or while no node is fit. The command finds the node in\n" +
      "ROLECALL_NODE, ROLECALL_HOST and ROLECALL_PORT, all fit nodes in ROLECALL_NODES, and those before in\n" +
      "ROLECALL_PREVIOUS_NODE and so on. Its output passes through. SIGTERM goes on to the command, which has 5 s to\n" +
      "end. Exits with 0 then, or with 1 if the last run had not succeeded.",
    positionals: { usage: "CLUSTER", least: 1, most: 1, completes: "cluster" },
    options: [
      { name: "check", value: "CHECK", completes: "check", help: "the check of the nodes (default /primary)" },
      { name: "exec", value: "COMMAND", help: "the command to run" },
      { name: "exec-timeout", value: "TIME", help: "how long one run may take before it gets SIGTERM (default 30s)" },
      ...serverOptions,
    ],
    examples: ["rolecall watch orders --check /primary --exec /usr/local/bin/route-pgcat"],
    checks: [{ id: "service", required: true }],
    isService: true,
    load: async () => (await import("../commands/watch-cluster.ts")).watchCluster,
  },
];

const by: OptionSpec = { name: "by", value: "NAME", help: "the operator, for the log (default $USER)" };

/** Commands that take nodes out of service for a limited time. */
const drainCommands: readonly CommandSpec[] = [
  {
    name: "drain",
    summary: "take a node out of service for a limited time",
    about:
      "Makes a node unfit for the replica routes with the reason drained, which is a soft no. The running rolecall\n" +
      "keeps the drain in its state_file, logs it and shows it in explain. A drain expires by itself. A new drain\n" +
      "replaces the one that the node has. If the node is the last that is fit for a route, the command says whose clients\n" +
      "lose their server, and asks.",
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [
      { name: "for", value: "TIME", help: "how long, such as 30m or 2h, at most 30d (required)" },
      { name: "reason", value: "TEXT", help: "why, in a few words (required)" },
      { name: "all", help: "drain on all routes except liveness, not only on the replica routes" },
      yesOption,
      by,
      clusterOption,
      ...serverOptions,
    ],
    examples: [
      'rolecall drain pg2 --for 30m --reason "kernel upgrade"',
      "rolecall drain demo/pg2 --for 2h --all --reason 'disk swap'",
    ],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).drain,
  },
  {
    name: "distrust",
    summary: "refuse a node everywhere, and ignore what it states",
    about:
      "For two primaries between which rolecall cannot decide. The node is unfit for every route but liveness with\n" +
      "the reason distrusted, a hard no. Its claim to be the primary, its views, its member list and its positions\n" +
      "count for nothing, so that another node can be the primary. The running rolecall keeps the distrust in its\n" +
      "state_file, logs it and shows it in status and explain. It replaces a drain of the node, and expires by itself.\n" +
      "If the node is the last that is fit for a route, the command says whose clients lose their server, and asks.",
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [
      { name: "for", value: "TIME", help: "how long, such as 30m or 2h, at most 30d (required)" },
      { name: "reason", value: "TEXT", help: "why, in a few words" },
      yesOption,
      by,
      clusterOption,
      ...serverOptions,
    ],
    examples: ['rolecall distrust pg2 --for 1h --reason "old primary, came back after the failover"'],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).distrust,
  },
  {
    name: "trust",
    summary: "end the distrust of a node",
    about: "Ends a distrust before it expires. Exits with 1 if the node is not distrusted.",
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [by, clusterOption, ...serverOptions],
    examples: ["rolecall trust pg2"],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).trust,
  },
  {
    name: "undrain",
    summary: "end a drain",
    about: "Ends a drain before it expires. Exits with 1 if the node has no drain.",
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [by, clusterOption, ...serverOptions],
    examples: ["rolecall undrain pg2"],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).undrain,
  },
  {
    name: "drains",
    summary: "list the drained and the distrusted nodes",
    about: "Lists the drained and the distrusted nodes with the reason, the operator and the remaining time.",
    options: [...serverOptions],
    examples: ["rolecall drains"],
    checks: [{ id: "drains", required: true }],
    load: async () => (await import("../commands/drain.ts")).drains,
  },
];

/** Commands about the documents of the program. */
const documentCommands: readonly CommandSpec[] = [
  {
    name: "result",
    summary: "show or validate a cli.result/v1 document",
    about:
      "Reads a result document of this or another tool: show prints it as text, validate checks it against the\n" +
      "schema. Use - to read from stdin.",
    positionals: { usage: "show|validate FILE|-", least: 2, most: 2, choices: ["show", "validate"], completes: "file" },
    options: [],
    examples: [
      "rolecall doctor --config rolecall.yaml --format json | rolecall result show -",
      "rolecall result validate result.json",
    ],
    checks: [{ id: "document", required: true }],
    load: async () => (await import("../commands/result-command.ts")).resultCommand,
  },
  {
    name: "schema",
    summary: "print the JSON Schema of the configuration or of the result document",
    about: "Prints the JSON Schema (draft 2020-12) of the configuration file or of the result document.",
    positionals: { usage: "config|result", least: 1, most: 1, choices: ["config", "result"] },
    options: [],
    examples: ["rolecall schema config > schema.json"],
    checks: [],
    findingsTo: "stderr",
    load: async () => (await import("../commands/schema.ts")).schema,
  },
];

/** Commands about the program itself. */
const programCommands: readonly CommandSpec[] = [
  {
    name: "hash-password",
    summary: "hash a password for the configuration",
    about:
      "Prompts for a password on a terminal, twice and without showing it; otherwise reads the first line of stdin.\n" +
      "Prints its hash for listen[].auth.basic[].scrypt.",
    options: [],
    examples: ["rolecall hash-password", "rolecall hash-password < password-file"],
    checks: [],
    load: async () => (await import("../commands/hash-password.ts")).hashPassword,
  },
  {
    name: "version",
    summary: "print the version",
    about: "Prints the version.",
    options: [],
    examples: ["rolecall version"],
    checks: [],
    load: async () => (await import("../commands/version.ts")).printVersion,
  },
];

/** `rolecall validate`: the problems of a configuration. */
const validateCommand: CommandSpec = {
  name: "validate",
  summary: "validate a configuration and list every problem with its line",
  about:
    "Reads a configuration and reports every problem with it, and with the certificates, keys and token files that\n" +
    "it names. Environment variables apply as they do for serve.",
  positionals: { usage: "FILE", least: 0, most: 1, completes: "file" },
  options: [
    { name: "config", value: "FILE", help: "the same as FILE" },
    { name: "set", value: "PATH=VALUE", multiple: true, help: "override one key of the file; may be repeated" },
    { name: "no-files", help: "do not read certificates, keys and tokens: on a machine that has none of them" },
  ],
  examples: ["rolecall validate /etc/rolecall/rolecall.yaml"],
  checks: [
    { id: "configuration", required: true },
    { id: "files", required: false },
  ],
  load: async () => (await import("../commands/validate.ts")).validate,
};

/** Commands for the servers of a user. */
const contextCommands: readonly CommandSpec[] = [
  {
    name: "contexts",
    summary: "list the contexts: named servers of contexts.yaml",
    about:
      "Lists the contexts of ~/.config/rolecall/contexts.yaml (in XDG_CONFIG_HOME, if that is set) and marks the one\n" +
      "that commands use. docs/cli.md describes the file.",
    options: serverOptions.filter(({ name }) => name === "context"),
    examples: ["rolecall contexts"],
    checks: [{ id: "contexts", required: true }],
    load: async () => (await import("../commands/contexts.ts")).listContexts,
  },
  {
    name: "context",
    summary: "show which server commands use and why, or select a context",
    about:
      "show (the default) prints the server, the credentials and the other options that commands use, and where each\n" +
      "value comes from: a flag, an environment variable, a context or the default. use NAME makes a context the\n" +
      "current one; list does the same as rolecall contexts.",
    positionals: {
      usage: "[show|list|use NAME]",
      least: 0,
      most: 2,
      choices: ["show", "list", "use"],
      completes: "context",
    },
    options: [...serverOptions],
    examples: ["rolecall context show", "rolecall context use prod", "rolecall context show --context prod"],
    checks: [{ id: "contexts", required: true }],
    load: async () => (await import("../commands/contexts.ts")).context,
  },
];

/** Commands for one purpose. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CommandSpec[];
}

/** Every command by its purpose, in the order in which help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  { title: "Serve", commands: [...serviceCommands, ...simulationCommands] },
  {
    title: "Look",
    commands: inOrder(commandOrder.look, [...inspectionCommands, compareCommand, ...featureCommands.look]),
  },
  {
    title: "Act",
    commands: inOrder(commandOrder.act, [...drainCommands, ...featureCommands.act]),
  },
  {
    title: "Set up",
    commands: [
      validateCommand,
      diagnosisCommand,
      renderCommand,
      ...contextCommands,
      ...documentCommands,
      completionCommand,
      ...programCommands,
    ],
  },
];

/** Every command, in the same order. */
export const commands: readonly CommandSpec[] = commandGroups.flatMap((group) => group.commands);

/** Commands that other programs run; help and completion do not list them. */
export const hiddenCommands: readonly CommandSpec[] = [completeCommand];

function inOrder(names: readonly string[], unsorted: readonly CommandSpec[]): readonly CommandSpec[] {
  return unsorted.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name));
}

/** Where every release has these files. */
const ofPackage = "the npm package (rolecall-VERSION.tgz)";

/** Commands that earlier versions had, with their first argument where only that is gone, and what does their work now. */
export const removedCommands: ReadonlyMap<string, string> = new Map([
  [
    "rehearse",
    "rolecall switchover CLUSTER --to NODE --seamless --dry-run checks a switchover and forecasts its phases; without " +
      "--dry-run it makes the switchover and prints each phase with its time.",
  ],
  [
    "render helm",
    `The chart is in ${ofPackage}: put your configuration and values into files, then helm upgrade --install rolecall ` +
      "deploy/helm/rolecall --set-file configFile=rolecall.yaml --values values.yaml. docs/kubernetes.md has the values.",
  ],
  [
    "render kubernetes",
    `The manifests are in ${ofPackage}: edit deploy/kubernetes/rolecall.yaml where its comments say so, then kubectl ` +
      "apply -f deploy/kubernetes/rolecall.yaml. deploy/kubernetes/monitoring.yaml is for the Prometheus Operator.",
  ],
  [
    "render systemd",
    `The units are in ${ofPackage}: edit those of deploy/systemd where their comments say so, then cp ` +
      "deploy/systemd/rolecall.service deploy/systemd/rolecall.socket /etc/systemd/system/. docs/install.md shows it.",
  ],
  ["render hint-script", "rolecall render patroni prints the script, with the settings that call it."],
]);
