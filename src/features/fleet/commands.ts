import type { CommandSpec } from "../../core/command/framework/command.ts";
import { serverOptions } from "../../core/command/framework/options.ts";

/** The commands of a fleet. */
export const fleetCommands: readonly CommandSpec[] = [
  {
    name: "fleet",
    summary: "show the members of a fleet and who probes what, or drain a member",
    about:
      "Shows the fleet of a running rolecall (docs/fleet.md): its members, how much each serves and owns, when the last\n" +
      "message of each came, and who probes each cluster. fleet drain MEMBER keeps a member from owning clusters, as before\n" +
      "maintenance: others take them within seconds. fleet undrain MEMBER ends that. Exits with 1 if this rolecall is\n" +
      "apart from its fleet or the drain is rejected.",
    positionals: {
      usage: "[drain|undrain MEMBER]",
      least: 0,
      most: 2,
      choices: ["drain", "undrain"],
      completes: "member",
    },
    options: [
      { name: "for", value: "TIME", help: "drain: how long, such as 30m or 2h, at most 30d (required)" },
      { name: "by", value: "NAME", help: "drain, undrain: the operator, for the log (default $USER)" },
      { name: "cluster", value: "NAME", completes: "cluster", help: "show this cluster only" },
      ...serverOptions,
    ],
    examples: ["rolecall fleet", "rolecall fleet drain edge1:9443 --for 1h", "rolecall fleet undrain edge1:9443"],
    checks: [{ id: "fleet", required: true }],
    load: async () => (await import("./cli/fleet.ts")).fleetCommand,
  },
];
