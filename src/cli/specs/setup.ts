import type { CommandSpec } from "../framework/command.ts";
import { clusterOption, serverOptions, sourceOptions } from "../framework/options.ts";

/** Commands that check a setup or write configuration for other programs. */
export const setupCommands: readonly CommandSpec[] = [
  {
    name: "validate",
    summary: "validate a configuration and list every problem with its line",
    about:
      "Reads a configuration and reports every problem with it, and with the certificates, keys and token files that\n" +
      "it names. Environment variables apply as they do for serve.",
    positionals: { usage: "FILE", least: 1, most: 1, completes: "file" },
    options: [
      { name: "set", value: "PATH=VALUE", multiple: true, help: "override one key of the file; may be repeated" },
      { name: "no-files", help: "do not read certificates, keys and tokens: on a machine that has none of them" },
    ],
    examples: ["rolecall validate /etc/rolecall.yaml"],
    checks: [
      { id: "configuration", required: true },
      { id: "files", required: false },
    ],
    load: async () => (await import("../commands/validate.ts")).validate,
  },
  {
    name: "doctor",
    summary: "check a whole setup: configuration, nodes, clocks, TLS, listeners",
    about:
      "Checks the configuration, every node, versions, clocks, scopes and system identifiers, max_age against the\n" +
      "leader lock, listeners, balancers, the rendered HAProxy configuration (haproxy -c), TLS expiry and guards.\n" +
      "docs/rules.md lists the rules.",
    options: [
      ...sourceOptions,
      clusterOption,
      { name: "haproxy", value: "FILE", help: "the haproxy executable (default: haproxy on the PATH)" },
    ],
    examples: [
      "rolecall doctor --config /etc/rolecall.yaml",
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
      { id: "balancers", required: false },
      { id: "haproxy", required: false },
    ],
    load: async () => (await import("../doctor/doctor.ts")).doctor,
  },
  {
    name: "render",
    summary: "write configuration for HAProxy, Envoy, Kubernetes, Prometheus or Patroni",
    about:
      "Writes configuration for the clusters of a configuration file, or for those that a running rolecall monitors.\n" +
      "For Patroni, that is a script by which it announces a change of the leader, with the settings that call it.",
    positionals: {
      usage: "haproxy|envoy|kubernetes|prometheus|patroni",
      least: 1,
      most: 1,
      choices: ["haproxy", "envoy", "kubernetes", "prometheus", "patroni"],
    },
    options: [
      {
        name: "edge",
        value: "HOST:PORT[,HOST:PORT]",
        multiple: true,
        help:
          "where load balancers reach the health listener of each rolecall; may be repeated " +
          "(default: the first health listener, or port 8008 of the host of --server)",
      },
      {
        name: "admin",
        value: "HOST:PORT",
        help: "where Prometheus reaches the metrics of rolecall (default: the first admin listener)",
      },
      { name: "bind", value: "ADDRESS", help: "the address that the load balancer listens on (default 127.0.0.1)" },
      {
        name: "write-port",
        value: "PORT",
        help: "write port of the first cluster; each further cluster adds 10 (default 5000)",
      },
      { name: "read-port", value: "PORT", help: "read port of the first cluster (default 5001)" },
      {
        name: "check-port",
        value: "PORT",
        help: "port on 127.0.0.1 through which the load balancer sends its checks to rolecall (default 8007)",
      },
      {
        name: "stats-port",
        value: "PORT",
        help: "port on 127.0.0.1 for HAProxy's statistics or Envoy's admin interface (default: none)",
      },
      {
        name: "agent",
        value: "PORT",
        help: "port of each rolecall's agent listener; HAProxy's read pools then have agent checks (default: none)",
      },
      {
        name: "runtime-socket",
        value: "PATH",
        help: "adds HAProxy's Runtime API on this socket, and prints the balancers section for rolecall (default: none)",
      },
      { name: "lag", value: "SIZE", help: "maximum lag of a replica in the read pool (default 10MB)" },
      {
        name: "lag-time",
        value: "TIME",
        help: "maximum age of a replica's data in the read pool, or none (default 10s)",
      },
      { name: "soft", help: "has no effect: the read pool of HAProxy drains a lagging replica by default" },
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
      { name: "image", value: "NAME", help: "the container image for Kubernetes (default rolecall:VERSION)" },
      clusterOption,
      ...serverOptions,
      ...sourceOptions,
    ],
    examples: [
      "rolecall render haproxy --config rolecall.yaml --edge 10.0.0.11:8008,10.0.0.12:8008 > haproxy.cfg",
      "rolecall render prometheus --server http://127.0.0.1:9108",
      "rolecall render patroni --config rolecall.yaml --hint-to https://10.0.0.11:9109,https://10.0.0.12:9109",
    ],
    checks: [{ id: "clusters", required: true }],
    findingsTo: "stderr",
    load: async () => (await import("../render/render.ts")).render,
  },
];
