/** The commands of the core, and all commands in the order of the help. */
import { commandAdditions, commandOrder, featureCommands } from "../../app/registry/commands.ts";
import type { CommandSpec } from "../../core/command/framework/command.ts";
import type { OptionSpec, Positionals } from "../../core/command/framework/command-description.ts";
import {
  clusterOption,
  nodeCaOption,
  nodeOption,
  serverOptions,
  sourceOptions,
  watchOption,
  yesOption,
} from "../../core/command/framework/options.ts";
import { selectable, verbCommand, withAdditions } from "../../core/command/framework/verbs.ts";
import {
  compareCommand,
  completeCommand,
  completionCommand,
  demoCommand,
  diagnosisCommand,
  renderCommand,
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
      await import("../../tools/doctor/validate.ts");
      return (await import("../commands/serve.ts")).serve;
    },
  },
];

const untilKnown = "until known, at most attach_window and two probes; 0s: one look";

/** What `status` shows beside the clusters; features add to it. */
const statusVerbs: readonly CommandSpec[] = [
  {
    name: "status pools",
    summary: "show the pools: members in order, why a node is out, what refers to each",
    about:
      "Shows each pool of the configuration (docs/pools.md): its nodes in the order in which they get clients, with the\n" +
      "reason of those that are out, and the balancers, poolers and agent listeners that refer to it.",
    positionals: { usage: "[POOL]", least: 0, most: 1 },
    options: serverOptions,
    examples: ["rolecall status pools", "rolecall status pools orders-read"],
    checks: [{ id: "pools", required: true }],
    load: async () => (await import("../commands/pools.ts")).pools,
  },
];

/** Commands that only read. */
const inspectionCommands: readonly CommandSpec[] = [
  {
    name: "status",
    summary: "show the clusters: roles, lag, routes that nodes are fit for; or pools, traffic, the fleet",
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
const forTime: OptionSpec = { name: "for", value: "TIME", help: "how long, such as 30m or 2h, at most 30d (required)" };
const aNode: Positionals = { usage: "NODE", least: 1, most: 1, completes: "node" };
const drainChecks: CommandSpec["checks"] = [{ id: "drain", required: true }];

/** What an option makes of `drain`. `--distrust --end` is the form of `--end`, which alone takes both. */
const drainForms: readonly CommandSpec[] = [
  {
    name: "drain --end",
    summary: "end a drain or, with --distrust, a distrust",
    about:
      "--end ends a drain before it expires, and with --distrust a distrust. It exits with 1 if the node is not drained,\n" +
      "or not distrusted.",
    positionals: aNode,
    options: [
      { name: "end", help: "end the drain of the node; with --distrust, its distrust" },
      { name: "distrust", help: "refuse the node everywhere, and ignore what it states" },
      by,
      clusterOption,
      ...serverOptions,
    ],
    examples: ["rolecall drain pg2 --end", "rolecall drain pg2 --distrust --end"],
    checks: drainChecks,
    load: async () => (await import("../commands/drain.ts")).endDrain,
  },
  {
    name: "drain --list",
    summary: "list the drained and the distrusted nodes",
    about: "--list shows the drained and the distrusted nodes with the reason, the operator and the remaining time.",
    options: [{ name: "list", help: "list the drained and the distrusted nodes" }, ...serverOptions],
    examples: ["rolecall drain --list"],
    checks: [{ id: "drains", required: true }],
    load: async () => (await import("../commands/drain.ts")).drains,
  },
  {
    name: "drain --distrust",
    summary: "refuse a node everywhere, and ignore what it states",
    about:
      "--distrust is for two primaries between which rolecall cannot decide. The node is unfit for every route but\n" +
      "liveness with the reason distrusted, a hard no. Its claim to be the primary, its views, its member list and its\n" +
      "positions count for nothing, so that another node can be the primary. A distrust replaces a drain of the node.",
    positionals: aNode,
    options: [
      { name: "distrust", help: "refuse the node everywhere, and ignore what it states" },
      forTime,
      { name: "reason", value: "TEXT", help: "why, in a few words" },
      yesOption,
      by,
      clusterOption,
      ...serverOptions,
    ],
    examples: ['rolecall drain pg2 --distrust --for 1h --reason "old primary, came back after the failover"'],
    checks: drainChecks,
    load: async () => (await import("../commands/drain.ts")).distrust,
  },
];

/** Takes nodes out of service for a limited time. */
const drainCommand: CommandSpec = {
  name: "drain",
  summary: "take a node out of service for a limited time, end that, or list what is drained",
  about:
    "Makes a node unfit for the replica routes with the reason drained, which is a soft no. The running rolecall\n" +
    "keeps the drain in its state_file, logs it and shows it in status and explain. A drain expires by itself. A new\n" +
    "drain replaces the one that the node has. If the node is the last that is fit for a route, the command says whose\n" +
    "clients lose their server, and asks.",
  positionals: aNode,
  options: [
    forTime,
    { name: "reason", value: "TEXT", help: "why, in a few words (required for a drain)" },
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
  checks: drainChecks,
  forms: drainForms,
  load: async () => (await import("../commands/drain.ts")).drain,
};

/** Calls of one node, and of a whole cluster: features bring them. Without any, there is no such command. */
const callCommands: readonly CommandSpec[] = [
  {
    name: "node",
    summary: "restart, reload or reinitialize a node",
    about: "Changes one node through the management gateway of a running rolecall (listener option management).",
  },
  {
    name: "cluster",
    summary: "show or change the dynamic configuration of a cluster, or make a failover",
    about: "Changes a cluster through the management gateway of a running rolecall (listener option management).",
  },
].map((command) => verbCommand({ ...command, checks: [{ id: "call", required: true }], verbs: [] }));

const aDocument: Positionals = { usage: "FILE|-", least: 1, most: 1, completes: "file" };

/** `rolecall result`: the documents that commands write, and the schemas. */
const resultCommand: CommandSpec = verbCommand({
  name: "result",
  summary: "show or validate a cli.result/v1 document, or print a JSON Schema",
  about:
    "Reads a result document of this or another tool, or prints what such documents and configurations must look like.",
  checks: [{ id: "document", required: true }],
  verbs: [
    {
      name: "result show",
      documentName: "result",
      summary: "print a result document as text",
      about: "Prints a result document of this or another tool as text. Use - to read from stdin.",
      positionals: aDocument,
      options: [],
      examples: ["rolecall doctor --config rolecall.yaml --format json | rolecall result show -"],
      checks: [{ id: "document", required: true }],
      load: async () => (await import("../commands/result-command.ts")).showResult,
    },
    {
      name: "result validate",
      documentName: "result",
      summary: "check a result document against the schema",
      about: "Checks a result document of this or another tool against the schema. Use - to read from stdin.",
      positionals: aDocument,
      options: [],
      examples: ["rolecall result validate result.json"],
      checks: [{ id: "document", required: true }],
      load: async () => (await import("../commands/result-command.ts")).validateResult,
    },
    {
      name: "result schema",
      summary: "print the JSON Schema of the result document or of the configuration",
      about: "Prints the JSON Schema (draft 2020-12) of the result document or of the configuration file.",
      positionals: { usage: "config|result", least: 1, most: 1, choices: ["config", "result"] },
      options: [],
      examples: ["rolecall result schema config > schema.json"],
      checks: [],
      findingsTo: "stderr",
      load: async () => (await import("../commands/schema.ts")).schema,
    },
  ],
});

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
    summary: "print the version and its commit",
    about:
      "Prints the version, and the commit of its source: `-changed` if files differed from it, `unknown` if the build had\n" +
      "neither git nor a file SOURCE with the hash.",
    options: [],
    examples: ["rolecall version", "rolecall --version"],
    checks: [],
    load: async () => (await import("../commands/version.ts")).printVersion,
  },
];

const contextChecks: CommandSpec["checks"] = [{ id: "contexts", required: true }];

/** What can be done with the contexts. */
const contextVerbs: readonly CommandSpec[] = [
  {
    name: "context list",
    documentName: "context",
    summary: "list the contexts: named servers of contexts.yaml",
    about:
      "Lists the contexts of ~/.config/rolecall/contexts.yaml (in XDG_CONFIG_HOME, if that is set) and marks the one\n" +
      "that commands use. docs/cli.md describes the file.",
    options: serverOptions,
    examples: ["rolecall context list"],
    checks: contextChecks,
    load: async () => (await import("../commands/contexts.ts")).listContexts,
  },
  {
    name: "context use",
    documentName: "context",
    summary: "make a context the current one",
    about: "Makes a context the one that commands use without --context.",
    positionals: { usage: "NAME", least: 0, most: 1, completes: "context" },
    options: serverOptions,
    examples: ["rolecall context use prod"],
    checks: contextChecks,
    load: async () => (await import("../commands/contexts.ts")).useContext,
  },
  {
    name: "context show",
    documentName: "context",
    summary: "show which server commands use and why, as without a verb",
    about:
      "Prints the server, the credentials and the other options that commands use, and where each value comes from: a\n" +
      "flag, an environment variable, a context or the default.",
    options: serverOptions,
    examples: ["rolecall context show --context prod"],
    checks: contextChecks,
    load: async () => (await import("../commands/contexts.ts")).showContext,
  },
];

/** `rolecall context`: the servers of a user. */
const contextCommand: CommandSpec = {
  name: "context",
  summary: "show which server commands use and why, list the known servers, or select one",
  about:
    "Prints the server, the credentials and the other options that commands use, and where each value comes from: a\n" +
    "flag, an environment variable, a context or the default.",
  options: serverOptions,
  examples: ["rolecall context", "rolecall context list", "rolecall context use prod"],
  checks: contextChecks,
  load: async () => (await import("../commands/contexts.ts")).showContext,
};

/** Commands for one purpose. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CommandSpec[];
}

/** Every command by its purpose, in the order in which help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  { title: "Serve", commands: [...serviceCommands, demoCommand] },
  {
    title: "Look",
    commands: inOrder(commandOrder.look, [...inspectionCommands, compareCommand, ...featureCommands.look]),
  },
  { title: "Act", commands: inOrder(commandOrder.act, [drainCommand, ...featureCommands.act, ...callCommands]) },
  {
    title: "Set up",
    commands: [diagnosisCommand, renderCommand, contextCommand, resultCommand, completionCommand, ...programCommands],
  },
].map(({ title, commands: bare }) => ({ title, commands: complete(bare) }));

/** Every command, in the same order. */
export const commands: readonly CommandSpec[] = commandGroups.flatMap((group) => group.commands);

/** Every command with its verbs and forms. */
export const allCommands: readonly CommandSpec[] = commands.flatMap((command) => selectable(command));

/** Commands that other programs run; help and completion do not list them. */
export const hiddenCommands: readonly CommandSpec[] = [completeCommand];

function inOrder(names: readonly string[], unsorted: readonly CommandSpec[]): readonly CommandSpec[] {
  return unsorted.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name));
}

/** The commands with what is added to them; one that only has verbs, and none of them, is left out. */
function complete(bare: readonly CommandSpec[]): readonly CommandSpec[] {
  const additions = [{ of: "status", verbs: statusVerbs }, { of: "context", verbs: contextVerbs }, ...commandAdditions];
  return bare
    .map((command) => withAdditions(command, additions))
    .filter(({ load, verbs = [] }) => load !== null || verbs.length > 0);
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
      "deploy/helm/rolecall --set-file configFile=rolecall.yaml --values values.yaml. deploy/helm/rolecall/README.md has the values.",
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
