import type { CommandSpec } from "../../command/framework/command.ts";
import { nodeCaOption } from "../../command/framework/options.ts";

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Commands that run until a signal stops them. */
export const serviceCommands: readonly CommandSpec[] = [
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
    load: async () => (await import("../commands/demo.ts")).demo,
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
    load: async () => (await import("../commands/simulate.ts")).simulate,
  },
];
