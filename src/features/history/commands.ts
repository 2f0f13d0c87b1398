import { eventSeverities } from "../../core/events/cluster-event.ts";
import type { CommandSpec } from "../../core/command/framework/command.ts";
import type { OptionSpec } from "../../core/command/framework/command-description.ts";
import { clusterOption, nodeOption, pastTimeHelp, serverOptions } from "../../core/command/framework/options.ts";

/** Where to read the past without a running rolecall. */
const directoryOption: OptionSpec = {
  name: "directory",
  value: "DIR",
  completes: "file",
  help: "the directory of a history (configuration key history.directory)",
};

/** Commands about what happened before. */
export const pastCommands: readonly CommandSpec[] = [
  {
    name: "history",
    summary: "show what happened: primaries lost and found, nodes detached, drains and so on",
    about:
      "Shows the events of the clusters, the newest last, in local time. Queries a running rolecall; with --directory,\n" +
      "reads the files of its history, also after it has stopped.",
    options: [
      clusterOption,
      nodeOption,
      { name: "since", value: "TIME", help: `the oldest events: ${pastTimeHelp}` },
      { name: "until", value: "TIME", help: "the newest events, as --since" },
      {
        name: "kind",
        value: "KIND",
        multiple: true,
        choicesOf: "event kinds",
        help: "one kind of events; may be repeated",
      },
      {
        name: "severity",
        value: "SEVERITY",
        choices: eventSeverities,
        help: "this severity and those above it (default info)",
      },
      { name: "limit", value: "N", help: "the newest N events, at most 1000 (default 100)" },
      { name: "follow", help: "print new events until Ctrl-C" },
      directoryOption,
      ...serverOptions,
    ],
    examples: [
      "rolecall history --since 2h",
      "rolecall history --cluster demo --severity warning --since 03:00 --until 04:00",
      "rolecall history --directory /var/lib/rolecall/state.json.history",
    ],
    checks: [{ id: "events", required: true }],
    // It handles Ctrl-C itself: that ends --follow, without an error.
    isService: true,
    load: async () => (await import("./cli/history.ts")).showHistory,
  },
  {
    name: "incident",
    summary: "save the evidence around a time as an incident file; show or replay such a file",
    about:
      "Without FILE: writes what rolecall observed in the five minutes before and after a time into a YAML file\n" +
      "(docs/incidents.md), and its name to stderr. Without a history on disk, evidence is kept for at most fifteen minutes. Queries a running\n" +
      "rolecall; with --directory, reads the files of its history, also after it has stopped.",
    options: [
      { name: "around", value: "TIME", help: `the time: ${pastTimeHelp} (default now)` },
      {
        name: "save",
        value: "FILE",
        help: "write it to this file, - prints it (default incident-CLUSTER-TIME.yaml in the working directory)",
      },
      clusterOption,
      directoryOption,
      ...serverOptions,
    ],
    examples: [
      "rolecall incident --around 03:12 --save night.yaml",
      "rolecall incident --around '10min ago' --save - | gzip > incident.yaml.gz",
      "rolecall incident --around 03:12 --directory /var/lib/rolecall/state.json.history",
    ],
    checks: [{ id: "evidence", required: true }],
    findingsTo: "stderr",
    load: async () => (await import("./cli/incident.ts")).incident,
  },
];
