import type { CommandSpec } from "../../core/command/framework/command.ts";
import type { CommandAddition } from "../../core/command/framework/verbs.ts";
import {
  clusterOption,
  serverOptions,
  dryRunOption,
  viaGateway,
  yesOption,
} from "../../core/command/framework/options.ts";

const checks = [{ id: "call", required: true }];
const oneCluster: CommandSpec["positionals"] = { usage: "[CLUSTER]", least: 0, most: 1, completes: "cluster" };

/** What changes a cluster or a node through its management API. */
export const managementAdditions: readonly CommandAddition[] = [
  {
    of: "cluster",
    verbs: [
      {
        name: "cluster config",
        summary: "show or change the dynamic configuration of a cluster",
        about:
          "Shows the dynamic configuration, or changes it: --set and --patch merge into it (null removes a key),\n" +
          `--replace replaces all of it.${viaGateway}`,
        positionals: oneCluster,
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
        examples: [
          "rolecall cluster config",
          "rolecall cluster config demo --set ttl=20 --set postgresql.parameters.work_mem=null",
        ],
        checks,
        load: async () => (await import("./cli/dynamic-config.ts")).dynamicConfig,
      },
      {
        name: "cluster failover",
        summary: "make a candidate the leader, even if the cluster has no leader",
        about:
          "Makes a candidate the leader, even if the current leader is missing or does not answer: writes that the candidate\n" +
          `has not received are lost. While the cluster has a leader, rolecall switchover loses none.${viaGateway}`,
        positionals: oneCluster,
        options: [
          { name: "to", value: "NODE", completes: "node", help: "the new leader (required)" },
          { name: "candidate", value: "NODE", completes: "node", help: "the same as --to" },
          dryRunOption,
          yesOption,
          clusterOption,
          ...serverOptions,
        ],
        examples: ["rolecall cluster failover --to pg2", "rolecall cluster failover demo --to pg2"],
        checks,
        load: async () => (await import("./cli/node-calls.ts")).failover,
      },
    ],
  },
  {
    of: "node",
    verbs: [
      {
        name: "node reload",
        summary: "make a node reload its configuration file",
        about: `Makes one node reload its configuration file.${viaGateway}`,
        positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
        options: [dryRunOption, yesOption, clusterOption, ...serverOptions],
        examples: ["rolecall node reload pg2"],
        checks,
        load: async () => (await import("./cli/node-calls.ts")).reloadNode,
      },
      {
        name: "node reinitialize",
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
        examples: ["rolecall node reinitialize pg3"],
        checks,
        load: async () => (await import("./cli/node-calls.ts")).reinitializeNode,
      },
    ],
  },
];
