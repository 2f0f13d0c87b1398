import type { CommandSpec, OptionSpec } from "../framework/command.ts";
import { clusterOption, serverOptions } from "../framework/options.ts";

const by: OptionSpec = { name: "by", value: "NAME", help: "who asks, for the log (default $USER)" };

/** Taking nodes out of service for a while. */
export const operatingCommands: readonly CommandSpec[] = [
  {
    name: "drain",
    summary: "take a node out of service for a while",
    about:
      "A soft no (drained) on the replica routes, kept in the running rolecall and its state_file, written to its log and shown by\nexplain. It ends by itself. A node that has a drain gets the new one in its place.",
    positionals: { usage: "NODE", least: 1, most: 1 },
    options: [
      { name: "for", value: "TIME", help: "how long, such as 30m, 2h, at most 30d; must be given" },
      { name: "reason", value: "TEXT", help: "why, in a few words; must be given" },
      { name: "all", help: "on all routes, the leader's too (liveness never)" },
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
    name: "undrain",
    summary: "end a drain",
    about: "Ends a drain before its time. Exit code 1 where the node has none.",
    positionals: { usage: "NODE", least: 1, most: 1 },
    options: [by, clusterOption, ...serverOptions],
    examples: ["rolecall undrain pg2"],
    checks: [{ id: "drain", required: true }],
    load: async () => (await import("../commands/drain.ts")).undrain,
  },
  {
    name: "drains",
    summary: "list the drains",
    about: "Lists the nodes that are drained: why, by whom, for how long.",
    options: [...serverOptions],
    examples: ["rolecall drains"],
    checks: [{ id: "drains", required: true }],
    load: async () => (await import("../commands/drain.ts")).drains,
  },
];
