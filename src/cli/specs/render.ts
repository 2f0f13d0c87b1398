import type { CommandSpec } from "../../command/framework/command.ts";
import type { OptionSpec } from "../../command/framework/command-description.ts";
import { clusterOption, serverOptions, sourceOptions } from "../../command/framework/options.ts";

const kinds = ["haproxy", "envoy", "prometheus", "alerts", "dashboard", "patroni"] as const;

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
  {
    name: "agent",
    value: "PORT",
    help: "port of each rolecall's agent listener; HAProxy's read pools then have agent checks (default: none)",
  },
  {
    name: "runtime-socket",
    value: "PATH",
    help:
      "HAProxy's Runtime API on this socket (default /run/haproxy/admin.sock), and prints the balancers section for " +
      "rolecall",
  },
  {
    name: "follow-members",
    help: "with --runtime-socket: rolecall adds servers for nodes that join, and removes them again",
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
  {
    name: "bare",
    help: "haproxy: leave out user, chroot, log and socket of the distribution, to start it by hand as any user",
  },
  {
    name: "xds",
    help: "envoy: the pools of the configuration, whose endpoints rolecall pushes (needs a listener with the dialect xds)",
  },
  {
    name: "xds-port",
    value: "PORT",
    help: "envoy: the port of that listener on each rolecall (default: that of the configuration, or 8010)",
  },
];

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
    ...balancerOptions,
    ...monitoringOptions,
    ...hintOptions,
    clusterOption,
    ...serverOptions,
    ...sourceOptions,
  ],
  examples: [
    "rolecall render haproxy --config rolecall.yaml --edge 10.0.0.11:8008,10.0.0.12:8008 > haproxy.cfg",
    "rolecall render prometheus --server http://127.0.0.1:9108",
    "rolecall render alerts > rolecall-rules.yml",
    "rolecall render patroni --config rolecall.yaml --hint-to https://10.0.0.11:9109,https://10.0.0.12:9109",
    "rolecall render patroni --pause --config rolecall.yaml --hint-to https://10.0.0.11:9109",
  ],
  checks: [{ id: "clusters", required: true }],
  findingsTo: "stderr",
  load: async () => (await import("../render/render.ts")).render,
};
