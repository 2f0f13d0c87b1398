import type { CommandSpec } from "../framework/command.ts";

/** Commands that run until a signal ends them. */
export const serviceCommands: readonly CommandSpec[] = [
  {
    name: "serve",
    summary: "probe clusters and answer health checks",
    about:
      "Probes clusters in the background and answers health checks from memory.\nSignals: SIGTERM drains and ends, SIGINT ends, SIGHUP reads the configuration again.",
    options: [
      { name: "config", value: "FILE", help: "the configuration (YAML)" },
      {
        name: "discover",
        value: "URL[,URL]",
        multiple: true,
        help: "watch one cluster, found through these nodes; needs no file",
      },
      { name: "cluster", value: "NAME", help: "the name and scope of that cluster" },
      { name: "listen", value: "HOST:PORT", multiple: true, help: "where to answer (default 127.0.0.1:8008)" },
      { name: "log-level", value: "LEVEL", help: "trace, debug, info, warn, error, fatal or silent" },
      {
        name: "set",
        value: "PATH=VALUE",
        multiple: true,
        help: "one setting, such as probe.interval=2s; may be repeated",
      },
    ],
    examples: ["rolecall serve --discover http://10.0.0.1:8008", "rolecall serve --config /etc/rolecall.yaml"],
    checks: [{ id: "service", required: true }],
    isService: true,
    load: async () => (await import("../commands/serve.ts")).serve,
  },
  {
    name: "simulate",
    summary: "run a simulated cluster to try things on",
    about: "Serves a simulated cluster: the nodes' API, its management calls, and faults on demand.",
    options: [
      { name: "nodes", value: "N", help: "how many nodes (default 3)" },
      {
        name: "port",
        value: "PORT",
        help: "the first node's port, the others follow; 0: any free ports (default 18008)",
      },
      { name: "host", value: "ADDRESS", help: "where to listen (default 127.0.0.1)" },
      { name: "scope", value: "NAME", help: "the cluster's name (default demo)" },
      {
        name: "vocabulary",
        value: "WORDS",
        choices: ["patroni", "neutral"],
        help: "names in documents and metrics: patroni or neutral (default patroni)",
      },
      { name: "keep-alive", help: "HTTP/1.1 with connections kept, instead of HTTP/1.0 and closing as real nodes do" },
      { name: "ttl", value: "SECONDS", help: "life of the leader lock (default 30)" },
      { name: "loop-wait", value: "SECONDS", help: "pause of the HA loop (default 10)" },
      { name: "wal-rate", value: "BYTES", help: "WAL written a second (default 262144)" },
      { name: "switchover", value: "MS", help: "about how long a switchover takes (default 2000)" },
      { name: "synchronous", value: "MODE", choices: ["off", "on", "quorum"], help: "off, on or quorum (default off)" },
      { name: "standby-cluster", help: "simulate the standby cluster of another one" },
    ],
    examples: ["rolecall simulate --nodes 5 --port 0"],
    checks: [{ id: "service", required: true }],
    isService: true,
    load: async () => (await import("../commands/simulate.ts")).simulate,
  },
];
