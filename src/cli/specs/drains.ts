import type { CommandSpec } from "../../command/framework/command.ts";
import type { OptionSpec } from "../../command/framework/command-description.ts";
import { clusterOption, serverOptions } from "../../command/framework/options.ts";

const by: OptionSpec = { name: "by", value: "NAME", help: "the operator, for the log (default $USER)" };

/** Commands that take nodes out of service for a limited time. */
export const drainCommands: readonly CommandSpec[] = [
  {
    name: "drain",
    summary: "take a node out of service for a limited time",
    about:
      "Makes a node unfit for the replica routes with the reason drained, which is a soft no. The running rolecall\n" +
      "keeps the drain in its state_file, logs it and shows it in explain. A drain expires by itself. A new drain\n" +
      "replaces the one that the node has.",
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [
      { name: "for", value: "TIME", help: "how long, such as 30m or 2h, at most 30d (required)" },
      { name: "reason", value: "TEXT", help: "why, in a few words (required)" },
      { name: "all", help: "drain on all routes except liveness, not only on the replica routes" },
      by,
      clusterOption,
      ...serverOptions,
    ],
    examples: [
      'rolecall drain pg2 --for 30m --reason "kernel upgrade"',
      "rolecall drain demo/pg2 --for 2h --all --reason 'disk swap'",
    ],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).drain,
  },
  {
    name: "distrust",
    summary: "refuse a node everywhere, and ignore what it states",
    about:
      "For two primaries between which rolecall cannot decide. The node is unfit for every route but liveness with\n" +
      "the reason distrusted, a hard no. Its claim to be the primary, its views, its member list and its positions\n" +
      "count for nothing, so that another node can be the primary. The running rolecall keeps the distrust in its\n" +
      "state_file, logs it and shows it in status and explain. It replaces a drain of the node, and expires by itself.",
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [
      { name: "for", value: "TIME", help: "how long, such as 30m or 2h, at most 30d (required)" },
      { name: "reason", value: "TEXT", help: "why, in a few words" },
      by,
      clusterOption,
      ...serverOptions,
    ],
    examples: ['rolecall distrust pg2 --for 1h --reason "old primary, came back after the failover"'],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).distrust,
  },
  {
    name: "trust",
    summary: "end the distrust of a node",
    about: "Ends a distrust before it expires. Exits with 1 if the node is not distrusted.",
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [by, clusterOption, ...serverOptions],
    examples: ["rolecall trust pg2"],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).trust,
  },
  {
    name: "undrain",
    summary: "end a drain",
    about: "Ends a drain before it expires. Exits with 1 if the node has no drain.",
    positionals: { usage: "NODE", least: 1, most: 1, completes: "node" },
    options: [by, clusterOption, ...serverOptions],
    examples: ["rolecall undrain pg2"],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).undrain,
  },
  {
    name: "drains",
    summary: "list the drained and the distrusted nodes",
    about: "Lists the drained and the distrusted nodes with the reason, the operator and the remaining time.",
    options: [...serverOptions],
    examples: ["rolecall drains"],
    checks: [{ id: "drains", required: true }],
    load: async () => (await import("../commands/drain.ts")).drains,
  },
];
