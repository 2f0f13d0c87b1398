import type { CommandSpec } from "../framework/command.ts";
import { clusterOption, nodeOption, serverOptions, sourceOptions } from "../framework/options.ts";

/** Commands that look and change nothing. */
export const watchingCommands: readonly CommandSpec[] = [
  {
    name: "status",
    summary: "show the clusters: roles, lag, age of evidence, who is fit for what",
    about:
      "Shows every cluster as a table. Asks a running rolecall, or with --config or --discover probes once itself.",
    options: [
      { name: "watch", help: "repaint the terminal live, with a sparkline of the lag; q or Ctrl-C ends it" },
      { name: "interval", value: "TIME", help: "how often --watch asks (default 1s)" },
      clusterOption,
      ...serverOptions,
      ...sourceOptions,
    ],
    examples: [
      "rolecall status",
      "rolecall status --watch --server http://127.0.0.1:9108",
      "rolecall status --discover http://10.0.0.1:8008",
    ],
    checks: [{ id: "overview", required: true }],
    load: async () => (await import("../commands/status.ts")).status,
  },
  {
    name: "check",
    summary: "ask one health check, of a node or a whole cluster",
    about: "Says whether a check gets a yes, as a balancer would hear it. Exit code 1 where it does not.",
    positionals: { usage: "CHECK", least: 1, most: 1 },
    options: [nodeOption, clusterOption, ...serverOptions, ...sourceOptions],
    examples: [
      "rolecall check '/replica?lag=1MB' --node pg2",
      "rolecall check /primary --discover http://10.0.0.1:8008",
    ],
    checks: [{ id: "verdict", required: true }],
    load: async () => (await import("../commands/check.ts")).check,
  },
  {
    name: "explain",
    summary: "say why a node gets the answer it gets, rule by rule",
    about: "Lists every rule in order: the value seen, the limit, the age and source of the evidence, the outcome.",
    positionals: { usage: "CHECK", least: 1, most: 1 },
    options: [nodeOption, clusterOption, ...serverOptions, ...sourceOptions],
    examples: ["rolecall explain '/replica?lag=1MB' --node pg2"],
    checks: [{ id: "rules", required: true }],
    load: async () => (await import("../commands/explain.ts")).explainCheck,
  },
  {
    name: "compare",
    summary: "shadow mode: ask nodes and rolecall the same, and count who says what",
    about:
      "Asks every node the same checks directly and a running rolecall too, and counts agreements, differences by reason, and who\nfollowed a change first. With --from-haproxy it asks what that file asks, and lists what nodes answer there and rolecall refuses.",
    options: [
      { name: "config", value: "FILE", help: "the configuration that names the clusters" },
      { name: "discover", value: "URL[,URL]", multiple: true, help: "or one cluster, found through these nodes" },
      { name: "set", value: "PATH=VALUE", multiple: true, help: "one setting of the configuration; may be repeated" },
      { name: "for", value: "TIME", help: "how long, such as 30s, 30m, 14d (default 1m)" },
      { name: "interval", value: "TIME", help: "how often everyone is asked (default 1s)" },
      { name: "members-interval", value: "TIME", help: "how often the members are read again (default 1m)" },
      {
        name: "check",
        value: "CHECK",
        multiple: true,
        help: "what is asked; may be repeated (default /primary, /replica, /read-only)",
      },
      { name: "from-haproxy", value: "FILE", help: "ask what this haproxy.cfg asks, and judge its checks" },
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
