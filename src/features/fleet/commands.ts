import type { CommandAddition } from "../../core/command/framework/verbs.ts";
import { serverOptions } from "../../core/command/framework/options.ts";

const checks = [{ id: "fleet", required: true }];

/** The view of a fleet, and the drain of a member. */
export const fleetAdditions: readonly CommandAddition[] = [
  {
    of: "status",
    verbs: [
      {
        name: "status fleet",
        summary: "show the members of a fleet and who probes what",
        about:
          "Shows the fleet of a running rolecall (docs/fleet.md): its members, how much each serves and owns, when the last\n" +
          "message of each came, and who probes each cluster. Exits with 1 if this rolecall is apart from its fleet.",
        options: [
          { name: "cluster", value: "NAME", completes: "cluster", help: "show this cluster only" },
          ...serverOptions,
        ],
        examples: ["rolecall status fleet", "rolecall status fleet --cluster shop"],
        checks,
        load: async () => (await import("./cli/fleet.ts")).showFleet,
      },
    ],
  },
  {
    of: "drain",
    forms: [
      {
        name: "drain --member",
        summary: "keep a member of the fleet from owning clusters, or end that",
        about:
          "--member keeps a member of the fleet from owning clusters, as before maintenance: others take them within\n" +
          "seconds (docs/fleet.md). With --end it is given clusters again. It exits with 1 if the drain is rejected.",
        options: [
          {
            name: "member",
            value: "MEMBER",
            completes: "member",
            help: "drain this member of the fleet, and no node: rolecall status fleet lists them",
          },
          { name: "end", help: "end its drain" },
          { name: "for", value: "TIME", help: "how long, such as 30m or 2h, at most 30d (required)" },
          { name: "by", value: "NAME", help: "the operator, for the log (default $USER)" },
          ...serverOptions,
        ],
        examples: ["rolecall drain --member edge1:9443 --for 1h", "rolecall drain --member edge1:9443 --end"],
        checks,
        load: async () => (await import("./cli/fleet.ts")).drainMember,
      },
    ],
  },
];
