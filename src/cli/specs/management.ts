import type { CommandSpec, OptionSpec } from "../framework/command.ts";
import { clusterOption, serverOptions } from "../framework/options.ts";

const yes: OptionSpec = { name: "yes", short: "y", help: "do not ask: for scripts" };
const dryRun: OptionSpec = { name: "dry-run", help: "only say what would happen" };
const checks = [{ id: "call", required: true }];
const through = "The call goes through the management gateway of a running rolecall (listener option management).";

/** Calls that change a cluster. */
export const managementCommands: readonly CommandSpec[] = [
  {
    name: "switchover",
    summary: "hand the leadership over, now or later",
    about: `Hands the leadership to a candidate, or to whom the cluster elects. ${through}`,
    options: [
      { name: "leader", value: "NODE", help: "the present leader (default: who the cluster document names)" },
      { name: "candidate", value: "NODE", help: "who is to lead" },
      { name: "at", value: "TIME", help: "when, with a time zone, such as 2026-01-31T03:00:00Z (default: now)" },
      { name: "cancel", help: "remove the scheduled switchover" },
      dryRun,
      yes,
      clusterOption,
      ...serverOptions,
    ],
    examples: [
      "rolecall switchover --candidate pg2",
      "rolecall switchover --cluster demo --at 2026-01-31T03:00:00Z --yes",
    ],
    checks,
    load: async () => (await import("../commands/switchover.ts")).switchover,
  },
  {
    name: "failover",
    summary: "make a candidate the leader, also when there is none",
    about: `Makes a candidate the leader, also where the cluster has none or its leader does not answer. ${through}`,
    options: [
      { name: "candidate", value: "NODE", help: "who is to lead; must be given" },
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
    summary: "restart a node's database, now or later",
    about: `Restarts one node's database. ${through}`,
    positionals: { usage: "NODE", least: 1, most: 1 },
    options: [
      { name: "pending", help: "only if a restart is pending" },
      { name: "role", value: "ROLE", help: "only if it has this role: primary, replica" },
      { name: "version", value: "VERSION", help: "only if the database is older than this" },
      { name: "wait", value: "TIME", help: "how long the database may take to accept connections" },
      { name: "at", value: "TIME", help: "when, with a time zone (default: now)" },
      { name: "cancel", help: "remove the scheduled restart" },
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
    summary: "have a node read its configuration file again",
    about: `Has one node read its configuration file again. ${through}`,
    positionals: { usage: "NODE", least: 1, most: 1 },
    options: [dryRun, yes, clusterOption, ...serverOptions],
    examples: ["rolecall reload pg2"],
    checks,
    load: async () => (await import("../commands/node-calls.ts")).reloadNode,
  },
  {
    name: "reinitialize",
    summary: "rebuild a replica from scratch",
    about: `Removes a replica's data and makes it anew. ${through}`,
    positionals: { usage: "NODE", least: 1, most: 1 },
    options: [
      { name: "force", help: "also while another attempt loops" },
      { name: "from-leader", help: "take the base backup from the leader itself" },
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
    summary: "show or change a cluster's dynamic configuration",
    about: `Shows the dynamic configuration, or changes it: --set and --patch merge (null removes), --replace writes it anew. ${through}`,
    options: [
      {
        name: "set",
        value: "PATH=VALUE",
        multiple: true,
        help: "one value (JSON, else text), such as postgresql.parameters.max_connections=200",
      },
      { name: "patch", value: "FILE", help: "merge this file (JSON or YAML)" },
      { name: "replace", value: "FILE", help: "write this file in place of all there is (JSON or YAML)" },
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
