import type { CommandAddition } from "../../core/command/framework/verbs.ts";
import { serverOptions } from "../../core/command/framework/options.ts";

/** The view of the audit. */
export const auditAdditions: readonly CommandAddition[] = [
  {
    of: "status",
    verbs: [
      {
        name: "status routes",
        summary: "show where balancers and poolers really send clients",
        about:
          "Asks a running rolecall what it saw when it last looked at the balancers and poolers of its configuration\n" +
          "(docs/audit.md): sessions on nodes that must not have them, fit nodes that get none, missing servers, targets that\n" +
          "cannot be read. Names what should have moved the traffic, and the command that moves it now. Exits with 0 if\n" +
          "traffic goes where it should, with 1 if not, and with 2 if a target was not looked at.",
        options: serverOptions,
        examples: ["rolecall status routes", "rolecall status routes --format json"],
        checks: [{ id: "routes", required: true }],
        load: async () => (await import("./cli/verify.ts")).verify,
      },
    ],
  },
];
