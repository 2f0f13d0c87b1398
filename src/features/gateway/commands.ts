import type { CommandSpec } from "../../core/command/framework/command.ts";
import {
  clusterOption,
  serverOptions,
  dryRunOption,
  viaGateway,
  yesOption,
} from "../../core/command/framework/options.ts";

const checks = [{ id: "call", required: true }];

/** Commands that change a cluster through its management API. */
export const managementCommands: readonly CommandSpec[] = [
  {
    name: "failover",
    summary: "make a candidate the leader, even if the cluster has no leader",
    about: `Makes a candidate the leader, even if the current leader is missing or does not answer.${viaGateway}`,
    options: [
      { name: "candidate", value: "NODE", completes: "node", help: "the new leader (required)" },
      dryRunOption,
      yesOption,
      clusterOption,
      ...serverOptions,
    ],
    examples: ["rolecall failover --candidate pg2"],
    checks,
    load: async () => (await import("./cli/node-calls.ts")).failover,
  },
  {
    name: "reload",
    summary: "make a node reload its configuration file",
    about: `Makes one node reload its configuration file.${viaGateway}`,
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [dryRunOption, yesOption, clusterOption, ...serverOptions],
    examples: ["rolecall reload pg2"],
    checks,
    load: async () => (await import("./cli/node-calls.ts")).reloadNode,
  },
  {
    name: "reinitialize",
    summary: "rebuild a replica from scratch",
    about: `Deletes the data of a replica and rebuilds it.${viaGateway}`,
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [
      { name: "force", help: "even while an earlier attempt keeps retrying" },
      { name: "from-leader", help: "take the base backup from the leader" },
      dryRunOption,
      yesOption,
      clusterOption,
      ...serverOptions,
    ],
    examples: ["rolecall reinitialize pg3"],
    checks,
    load: async () => (await import("./cli/node-calls.ts")).reinitializeNode,
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
      dryRunOption,
      yesOption,
      clusterOption,
      ...serverOptions,
    ],
    examples: ["rolecall config", "rolecall config --set ttl=20 --set postgresql.parameters.work_mem=null"],
    checks,
    load: async () => (await import("./cli/dynamic-config.ts")).dynamicConfig,
  },
];
