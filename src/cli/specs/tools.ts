import type { CommandSpec } from "../framework/command.ts";

/** Commands about the program itself and its documents. */
export const toolCommands: readonly CommandSpec[] = [
  {
    name: "result",
    summary: "show or judge any cli.result/v1 document",
    about:
      "Reads a result document, also another tool's: show prints it for a person, validate judges it by the schema. - is stdin.",
    positionals: { usage: "show|validate FILE|-", least: 2, most: 2, choices: ["show", "validate"] },
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
    summary: "print a JSON Schema: of the configuration or of the result document",
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
    about: "Prints a script that completes commands, options and their words.",
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
    summary: "make a hash of a password for the configuration",
    about:
      "Reads a password from standard input (its first line) and prints the hash of it for listen[].auth.basic[].scrypt.",
    options: [],
    examples: ["rolecall hash-password < password-file"],
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
