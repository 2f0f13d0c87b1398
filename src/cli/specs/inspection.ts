import type { CommandSpec } from "../../command/framework/command.ts";
import {
  clusterOption,
  nodeCaOption,
  nodeOption,
  serverOptions,
  sourceOptions,
  watchOption,
} from "../../command/framework/options.ts";

const untilKnown = "until known, at most attach_window and two probes; 0s: one look";

/** Commands that only read. */
export const inspectionCommands: readonly CommandSpec[] = [
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
    ownFindings: ["RC050", "RC051", "RC052", "RC053", "RC054", "RC112"],
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
    name: "fleet",
    summary: "show the members of a fleet and who probes what, or drain a member",
    about:
      "Shows the fleet of a running rolecall (docs/fleet.md): its members, how much each serves and owns, when the last\n" +
      "message of each came, and who probes each cluster. fleet drain MEMBER keeps a member from owning clusters, as before\n" +
      "maintenance: others take them within seconds. fleet undrain MEMBER ends that. Exits with 1 if this rolecall is\n" +
      "apart from its fleet or the drain is rejected, and with 2 if it is in no fleet.",
    positionals: {
      usage: "[drain|undrain MEMBER]",
      least: 0,
      most: 2,
      choices: ["drain", "undrain"],
      completes: "member",
    },
    options: [
      { name: "for", value: "TIME", help: "drain: how long, such as 30m or 2h, at most 30d (required)" },
      { name: "by", value: "NAME", help: "drain, undrain: the operator, for the log (default $USER)" },
      { name: "cluster", value: "NAME", completes: "cluster", help: "show this cluster only" },
      ...serverOptions,
    ],
    examples: ["rolecall fleet", "rolecall fleet drain edge1:9443 --for 1h", "rolecall fleet undrain edge1:9443"],
    checks: [{ id: "fleet", required: true }],
    load: async () => (await import("../commands/fleet.ts")).fleet,
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
      "that decided it, and what would make the node fit.",
    positionals: { usage: "[CHECK]", least: 0, most: 1, completes: "check" },
    options: [nodeOption, clusterOption, watchOption(untilKnown), ...serverOptions, ...sourceOptions],
    examples: [
      "rolecall explain --cluster orders",
      "rolecall explain /primary",
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
  {
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
    load: async () => (await import("../commands/compare.ts")).compare,
  },
];
