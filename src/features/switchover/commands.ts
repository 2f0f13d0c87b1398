import type { OptionSpec } from "../../core/command/framework/command-description.ts";
import type { CommandSpec } from "../../core/command/framework/command.ts";
import type { CommandAddition } from "../../core/command/framework/verbs.ts";
import {
  clusterOption,
  serverOptions,
  dryRunOption,
  viaGateway,
  yesOption,
} from "../../core/command/framework/options.ts";

const checks = [
  { id: "call", required: true },
  { id: "run", required: false },
];

/** What a seamless switchover and a seamless restart are both told. */
const deadlineOption: OptionSpec = {
  name: "deadline",
  value: "TIME",
  help: "with --seamless: how long they wait at most, whatever happens (default 15s)",
};
const unguardedOption: OptionSpec = {
  name: "unguarded",
  help: "with --seamless: also if no peer would resume the clients if rolecall died",
};

/** `rolecall switchover`, with and without waiting clients. */
export const switchoverCommands: readonly CommandSpec[] = [
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
      deadlineOption,
      {
        name: "route-wait",
        value: "TIME",
        help: "with --seamless: how long to wait for a balancer that is only checked (default 1s)",
      },
      unguardedOption,
      {
        name: "resume",
        help: "resume every database of the cluster's poolers, also those that an operator has paused",
      },
      dryRunOption,
      yesOption,
      clusterOption,
      ...serverOptions,
    ],
    examples: [
      "rolecall switchover --candidate pg2",
      "rolecall switchover --cluster demo --at 2026-01-31T03:00:00Z --yes",
      "rolecall switchover demo --to pg2 --seamless",
    ],
    checks,
    load: async () => (await import("./cli/switchover.ts")).runSwitchover,
  },
];

/** What it adds to the calls of a node. */
export const restartAdditions: readonly CommandAddition[] = [
  {
    of: "node",
    verbs: [
      {
        name: "node restart",
        summary: "restart the database of a node, now or at a scheduled time",
        about:
          `Restarts the database of one node.${viaGateway}\n\n` +
          "With --seamless a running rolecall restarts it while the clients wait whose poolers lead there, so that none of them\n" +
          "gets an error (admin listener with management: on and authentication).",
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
          { name: "seamless", help: "let the clients of the poolers that lead to the node wait meanwhile" },
          deadlineOption,
          unguardedOption,
          dryRunOption,
          yesOption,
          clusterOption,
          ...serverOptions,
        ],
        examples: [
          "rolecall node restart pg2 --pending",
          "rolecall node restart demo/pg2 --at 2026-01-31T03:00:00Z --yes",
          "rolecall node restart demo/pg1 --seamless",
        ],
        checks,
        load: async () => (await import("./cli/restart.ts")).restartNode,
      },
    ],
  },
];
