import { serverOptions } from "../../core/command/framework/options.ts";
import type { CommandAddition } from "../../core/command/framework/verbs.ts";
import type { CommandSpec } from "../../core/command/framework/command.ts";

const positionals: CommandSpec["positionals"] = { usage: "FILE", least: 1, most: 1, completes: "file" };
const checks = [{ id: "evidence", required: true }];

/** What can be done with an incident file. */
export const incidentAdditions: readonly CommandAddition[] = [
  {
    of: "incident",
    verbs: [
      {
        name: "incident show",
        documentName: "incident",
        summary: "serve the live page over an incident file on 127.0.0.1 until Ctrl-C",
        about: "Serves the live page over an incident file on 127.0.0.1 until Ctrl-C. Use - to read stdin.",
        positionals,
        options: [{ name: "port", value: "PORT", help: "the port on 127.0.0.1 (default: a free one)" }],
        unusedOptions: serverOptions,
        examples: ["rolecall incident show night.yaml"],
        checks,
        findingsTo: "stderr",
        isService: true,
        load: async () => (await import("./cli/show-incident.ts")).showIncident,
      },
      {
        name: "incident replay",
        documentName: "incident",
        summary: "judge an incident file again, and compare with what it expects",
        about:
          "Judges an incident file again, prints what changed and when, and compares the answers with those under expect.\n" +
          "Use - to replay stdin.",
        positionals,
        options: [],
        unusedOptions: serverOptions,
        examples: ["rolecall incident replay night.yaml"],
        checks,
        findingsTo: "stderr",
        load: async () => (await import("./cli/replay-incident.ts")).replayIncident,
      },
    ],
  },
];
