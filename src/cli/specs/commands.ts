import { featureChecks } from "../../app/registry/doctor.ts";
import { commandOrder, featureCommands } from "../../app/registry/commands.ts";
import type { CommandSpec } from "../../command/framework/command.ts";
import { drainCommands } from "./drains.ts";
import { serviceCommands } from "./services.ts";
import { toolCommands } from "./tools.ts";
import { inspectionCommands } from "./inspection.ts";
import { clusterOption, serverOptions, sourceOptions } from "../../command/framework/options.ts";
import { renderCommand } from "./render.ts";

/** Commands that check a setup or write configuration for other programs. */
const setupCommands: readonly CommandSpec[] = [
  {
    name: "validate",
    summary: "validate a configuration and list every problem with its line",
    about:
      "Reads a configuration and reports every problem with it, and with the certificates, keys and token files that\n" +
      "it names. Environment variables apply as they do for serve.",
    positionals: { usage: "FILE", least: 0, most: 1, completes: "file" },
    options: [
      { name: "config", value: "FILE", help: "the same as FILE" },
      { name: "set", value: "PATH=VALUE", multiple: true, help: "override one key of the file; may be repeated" },
      { name: "no-files", help: "do not read certificates, keys and tokens: on a machine that has none of them" },
    ],
    examples: ["rolecall validate /etc/rolecall/rolecall.yaml"],
    checks: [
      { id: "configuration", required: true },
      { id: "files", required: false },
    ],
    load: async () => (await import("../commands/validate.ts")).validate,
  },
  {
    name: "doctor",
    summary: "check a whole setup: configuration, nodes, clocks, TLS, listeners",
    about:
      "Checks the configuration, every node, versions, clocks, scopes and system identifiers, max_age against the\n" +
      "leader lock, listeners, balancers, the rendered HAProxy configuration (haproxy -c), TLS expiry and guards.\n" +
      "docs/rules.md lists the rules.",
    options: [
      ...sourceOptions,
      clusterOption,
      { name: "haproxy", value: "FILE", help: "the haproxy executable (default: haproxy on the PATH)" },
      { name: "haproxy-config", value: "FILE", help: "compare the servers of this haproxy.cfg with the members" },
    ],
    examples: [
      "rolecall doctor --config /etc/rolecall/rolecall.yaml",
      "rolecall doctor --config rolecall.yaml --haproxy-config /etc/haproxy/haproxy.cfg",
      "rolecall doctor --config rolecall.yaml --policy reviewed.yaml --format json",
    ],
    checks: [
      { id: "configuration", required: true },
      { id: "nodes", required: true },
      { id: "versions", required: true },
      { id: "clocks", required: true },
      { id: "identity", required: true },
      { id: "max_age", required: true },
      { id: "listeners", required: true },
      { id: "guards", required: true },
      { id: "tls", required: true },
      ...featureChecks.map(({ id }) => ({ id, required: false })),
      { id: "haproxy", required: false },
    ],
    load: async () => (await import("../doctor/doctor.ts")).doctor,
  },
  renderCommand,
];

/** Commands for the servers of a user. */
const contextCommands: readonly CommandSpec[] = [
  {
    name: "contexts",
    summary: "list the contexts: named servers of contexts.yaml",
    about:
      "Lists the contexts of ~/.config/rolecall/contexts.yaml (in XDG_CONFIG_HOME, if that is set) and marks the one\n" +
      "that commands use. docs/cli.md describes the file.",
    options: serverOptions.filter(({ name }) => name === "context"),
    examples: ["rolecall contexts"],
    checks: [{ id: "contexts", required: true }],
    load: async () => (await import("../commands/contexts.ts")).listContexts,
  },
  {
    name: "context",
    summary: "show which server commands use and why, or select a context",
    about:
      "show (the default) prints the server, the credentials and the other options that commands use, and where each\n" +
      "value comes from: a flag, an environment variable, a context or the default. use NAME makes a context the\n" +
      "current one; list does the same as rolecall contexts.",
    positionals: {
      usage: "[show|list|use NAME]",
      least: 0,
      most: 2,
      choices: ["show", "list", "use"],
      completes: "context",
    },
    options: [...serverOptions],
    examples: ["rolecall context show", "rolecall context use prod", "rolecall context show --context prod"],
    checks: [{ id: "contexts", required: true }],
    load: async () => (await import("../commands/contexts.ts")).context,
  },
];

/** What the completion scripts run for names that only a running rolecall or the contexts file knows. */
const completeCommand: CommandSpec = {
  name: "__complete",
  summary: "print names for shell completion",
  about:
    "Prints the names of nodes, clusters, members of the fleet or contexts, one on each line; nothing if they are not\n" +
    "known in time. Finds the server as the command line LINE would.",
  positionals: {
    usage: "node|cluster|member|context [LINE]",
    least: 1,
    most: 2,
    choices: ["node", "cluster", "member", "context"],
  },
  options: [],
  examples: ["rolecall __complete node 'rolecall status --server 10.0.0.1:8008 --node '"],
  checks: [],
  load: async () => (await import("../commands/complete.ts")).complete,
};

/** Commands for one purpose. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CommandSpec[];
}

/** Every command by its purpose, in the order in which help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  { title: "Serve", commands: serviceCommands },
  {
    title: "Look",
    commands: inOrder(commandOrder.look, [...inspectionCommands, ...featureCommands.look]),
  },
  {
    title: "Act",
    commands: inOrder(commandOrder.act, [...drainCommands, ...featureCommands.act]),
  },
  { title: "Set up", commands: [...setupCommands, ...contextCommands, ...toolCommands] },
];

/** Every command, in the same order. */
export const commands: readonly CommandSpec[] = commandGroups.flatMap((group) => group.commands);

/** Commands that other programs run; help and completion do not list them. */
export const hiddenCommands: readonly CommandSpec[] = [completeCommand];

function inOrder(names: readonly string[], unsorted: readonly CommandSpec[]): readonly CommandSpec[] {
  return unsorted.toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name));
}
