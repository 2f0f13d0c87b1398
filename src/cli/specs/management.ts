import type { CommandSpec } from "../../command/framework/command.ts";
import type { OptionSpec } from "../../command/framework/command-description.ts";
import { clusterOption, serverOptions } from "../../command/framework/options.ts";

const yes: OptionSpec = { name: "yes", short: "y", help: "do not ask for confirmation (for scripts)" };
const dryRun: OptionSpec = {
  name: "dry-run",
  help: "report what would happen, without doing it; exit code 1 if it would be refused",
};
const checks = [{ id: "call", required: true }];
const viaGateway = "\nThe call goes through the management gateway of a running rolecall (listener option management).";

/** Commands that change a cluster through its management API. */
export const managementCommands: readonly CommandSpec[] = [
  {
    name: "switchover",
    summary: "switch over to another leader, now or at a scheduled time",
    about:
      `Makes a candidate the leader, or lets the cluster elect one.${viaGateway}\n\n` +
      "With --seamless a running rolecall switches over while the clients of its poolers wait, so that none of them gets an\n" +
      "error (admin listener with management: on and authentication). It prints what was checked, and each step with its time.",
    positionals: { usage: "[CLUSTER]", least: 0, most: 1, completes: "cluster" },
    options: [
      {
        name: "leader",
        value: "NODE",
        completes: "node",
        help: "the current leader (default: the leader in the cluster document)",
      },
      { name: "candidate", value: "NODE", completes: "node", help: "the new leader (default: the cluster elects one)" },
      { name: "to", value: "NODE", completes: "node", help: "the same as --candidate" },
      { name: "at", value: "TIME", help: "when, with a time zone, such as 2026-01-31T03:00:00Z (default: now)" },
      { name: "cancel", help: "cancel the scheduled switchover" },
      { name: "seamless", help: "let the clients of the cluster's poolers wait meanwhile" },
      {
        name: "deadline",
        value: "TIME",
        help: "with --seamless: how long they wait at most, whatever happens (default 15s)",
      },
      {
        name: "route-wait",
        value: "TIME",
        help: "with --seamless: how long to wait for a balancer that is only checked (default 1s)",
      },
      { name: "unguarded", help: "with --seamless: also if no peer would resume the clients if rolecall died" },
      {
        name: "resume",
        help: "resume every database of the cluster's poolers, also those that an operator has paused",
      },
      dryRun,
      yes,
      clusterOption,
      ...serverOptions,
    ],
    examples: [
      "rolecall switchover --candidate pg2",
      "rolecall switchover --cluster demo --at 2026-01-31T03:00:00Z --yes",
      "rolecall switchover demo --to pg2 --seamless",
    ],
    checks: [...checks, { id: "run", required: false }],
    load: async () => (await import("../commands/switchover.ts")).switchover,
  },
  {
    name: "failover",
    summary: "make a candidate the leader, even if the cluster has no leader",
    about: `Makes a candidate the leader, even if the current leader is missing or does not answer.${viaGateway}`,
    options: [
      { name: "candidate", value: "NODE", completes: "node", help: "the new leader (required)" },
      dryRun,
      yes,
      clusterOption,
      ...serverOptions,
    ],
    examples: ["rolecall failover --candidate pg2"],
    checks,
    load: async () => (await import("../commands/switchover.ts")).failover,
  },
  {
    name: "restart",
    summary: "restart the database of a node, now or at a scheduled time",
    about: `Restarts the database of one node.${viaGateway}`,
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [
      { name: "pending", help: "only if a restart is pending" },
      {
        name: "role",
        value: "ROLE",
        completes: ["primary", "replica"],
        help: "only if the node has this role: primary or replica",
      },
      { name: "version", value: "VERSION", help: "only if the PostgreSQL version is older than this" },
      { name: "wait", value: "TIME", help: "how long the database may take to accept connections" },
      { name: "at", value: "TIME", help: "when, with a time zone (default: now)" },
      { name: "cancel", help: "cancel the scheduled restart" },
      dryRun,
      yes,
      clusterOption,
      ...serverOptions,
    ],
    examples: ["rolecall restart pg2 --pending", "rolecall restart demo/pg2 --at 2026-01-31T03:00:00Z --yes"],
    checks,
    load: async () => (await import("../commands/node-calls.ts")).restartNode,
  },
  {
    name: "reload",
    summary: "make a node reload its configuration file",
    about: `Makes one node reload its configuration file.${viaGateway}`,
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [dryRun, yes, clusterOption, ...serverOptions],
    examples: ["rolecall reload pg2"],
    checks,
    load: async () => (await import("../commands/node-calls.ts")).reloadNode,
  },
  {
    name: "reinitialize",
    summary: "rebuild a replica from scratch",
    about: `Deletes the data of a replica and rebuilds it.${viaGateway}`,
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [
      { name: "force", help: "even while an earlier attempt keeps retrying" },
      { name: "from-leader", help: "take the base backup from the leader" },
      dryRun,
      yes,
      clusterOption,
      ...serverOptions,
    ],
    examples: ["rolecall reinitialize pg3"],
    checks,
    load: async () => (await import("../commands/node-calls.ts")).reinitializeNode,
  },
  {
    name: "config",
    summary: "show or change the dynamic configuration of a cluster",
    about:
      "Shows the dynamic configuration, or changes it: --set and --patch merge into it (null removes a key),\n" +
      `--replace replaces all of it.${viaGateway}`,
    options: [
      {
        name: "set",
        value: "PATH=VALUE",
        multiple: true,
        help: "one value (JSON if it parses, else text), such as postgresql.parameters.max_connections=200",
      },
      { name: "patch", value: "FILE", help: "merge this file (JSON or YAML)" },
      { name: "replace", value: "FILE", help: "replace the whole configuration by this file (JSON or YAML)" },
      dryRun,
      yes,
      clusterOption,
      ...serverOptions,
    ],
    examples: ["rolecall config", "rolecall config --set ttl=20 --set postgresql.parameters.work_mem=null"],
    checks,
    load: async () => (await import("../commands/dynamic-config.ts")).dynamicConfig,
  },
];
