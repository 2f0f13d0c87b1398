import type { CommandVerbs } from "../../core/command/framework/verbs.ts";

/** What can be done with an incident file. */
export const incidentVerbs: CommandVerbs = {
  of: "incident",
  usage: "FILE",
  completes: "file",
  about:
    "show FILE serves the live page over the file on 127.0.0.1 until Ctrl-C. replay FILE judges the file again, prints\n" +
    "what changed and when, and compares the answers with those under expect. Use - to replay stdin.",
  examples: ["rolecall incident show night.yaml", "rolecall incident replay night.yaml"],
  optionsBefore: "cluster",
  refuses: ["around", "cluster", "directory"],
  verbs: {
    show: {
      options: [{ name: "port", value: "PORT", help: "for show: the port on 127.0.0.1 (default: a free one)" }],
      isService: true,
      load: async () => (await import("./cli/show-incident.ts")).showIncident,
    },
    replay: { load: async () => (await import("./cli/replay-incident.ts")).replayIncident },
  },
};
