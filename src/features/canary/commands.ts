import type { CommandSpec } from "../../core/command/framework/command.ts";
import { clusterOption, serverOptions } from "../../core/command/framework/options.ts";

/** The commands of canaries. */
export const canaryCommands: readonly CommandSpec[] = [
  {
    name: "canaries",
    summary: "show whether writes and reads pass as clients make them",
    about:
      "Asks a running rolecall what the last tries of its canaries came to (docs/canaries.md): connections through\n" +
      "balancers and poolers that commit a write, or read it. With --sql: prints what creates their table, for the owner\n" +
      "of each database to run once; no rolecall is asked. Exits with 0 if all pass, with 1 if one fails, and with 2 if\n" +
      "one was not tried yet.",
    options: [
      clusterOption,
      {
        name: "sql",
        value: "ROLE",
        help: "print CREATE TABLE and GRANT for the user in the canaries' urls",
      },
      ...serverOptions,
    ],
    examples: ["rolecall canaries", "rolecall canaries --sql canary"],
    checks: [{ id: "canaries", required: true }],
    load: async () => (await import("./cli/canaries.ts")).canaries,
  },
];
