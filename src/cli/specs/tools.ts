import type { CommandSpec } from "../../command/framework/command.ts";

/** Commands about the program itself and its documents. */
export const toolCommands: readonly CommandSpec[] = [
  {
    name: "result",
    summary: "show or validate a cli.result/v1 document",
    about:
      "Reads a result document of this or another tool: show prints it as text, validate checks it against the\n" +
      "schema. Use - to read from stdin.",
    positionals: { usage: "show|validate FILE|-", least: 2, most: 2, choices: ["show", "validate"], completes: "file" },
    options: [],
    examples: [
      "rolecall doctor --config rolecall.yaml --format json | rolecall result show -",
      "rolecall result validate result.json",
    ],
    checks: [{ id: "document", required: true }],
    load: async () => (await import("../commands/result-command.ts")).resultCommand,
  },
  {
    name: "schema",
    summary: "print the JSON Schema of the configuration or of the result document",
    about: "Prints the JSON Schema (draft 2020-12) of the configuration file or of the result document.",
    positionals: { usage: "config|result", least: 1, most: 1, choices: ["config", "result"] },
    options: [],
    examples: ["rolecall schema config > schema.json"],
    checks: [],
    findingsTo: "stderr",
    load: async () => (await import("../commands/schema.ts")).schema,
  },
  {
    name: "completion",
    summary: "print a completion script for bash, zsh or fish",
    about:
      "Prints a shell script that completes commands, options and their values, routes, files, contexts, and the names\n" +
      "of the nodes, clusters and members of the fleet that the running rolecall knows.",
    positionals: { usage: "bash|zsh|fish", least: 1, most: 1, choices: ["bash", "zsh", "fish"] },
    options: [],
    examples: [
      "source <(rolecall completion bash)",
      "rolecall completion fish > ~/.config/fish/completions/rolecall.fish",
    ],
    checks: [],
    findingsTo: "stderr",
    load: async () => (await import("../commands/completion.ts")).completion,
  },
  {
    name: "hash-password",
    summary: "hash a password for the configuration",
    about:
      "Prompts for a password on a terminal, twice and without showing it; otherwise reads the first line of stdin.\n" +
      "Prints its hash for listen[].auth.basic[].scrypt.",
    options: [],
    examples: ["rolecall hash-password", "rolecall hash-password < password-file"],
    checks: [],
    load: async () => (await import("../commands/hash-password.ts")).hashPassword,
  },
  {
    name: "version",
    summary: "print the version",
    about: "Prints the version.",
    options: [],
    examples: ["rolecall version"],
    checks: [],
    load: async () => (await import("../commands/version.ts")).printVersion,
  },
];
