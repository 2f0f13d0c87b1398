import type { CommandDescription, OptionSpec } from "../../core/command/framework/command-description.ts";
import { verbOf } from "../../core/command/framework/verbs.ts";
import {
  optionsOf,
  positionalCandidates,
  quoted,
  valueCandidates,
  withVerbsOf,
  type Candidates,
} from "./candidates.ts";

/** The completion script for fish. */
export function fishScript(commands: readonly CommandDescription[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  return [
    "# rolecall completion for fish: rolecall completion fish > ~/.config/fish/completions/rolecall.fish",
    "function __rolecall_names",
    "  set -l program (commandline -opc)[1]",
    "  $program __complete $argv[1] (commandline -cp | string collect) 2>/dev/null </dev/null",
    "end",
    "# Without this, fish proposes files where rolecall takes none.",
    "complete -c rolecall -f",
    ...withVerbsOf(commands).flatMap((spec) => {
      const after = `-n '${conditionOf(spec)}'`;
      const noCommandYet = `-n 'not __fish_seen_subcommand_from ${names}'`;
      return [
        ...(spec.name.includes(" ")
          ? []
          : [`complete -c rolecall ${noCommandYet} -a ${spec.name} -d ${quoted(spec.summary)}`]),
        ...fishPositionals(spec).map((proposal) => `complete -c rolecall ${after} ${proposal}`),
        ...optionsOf(spec).map((option) => `complete -c rolecall ${after} ${fishOption(option)}`),
      ];
    }),
    "",
  ].join("\n");
}

/** When the words of a command are on the line: `status` without one of its verbs, or `status` and `pools`. */
function conditionOf({ name, verbs = [] }: CommandDescription): string {
  const seen = name.split(" ").map((word) => `__fish_seen_subcommand_from ${word}`);
  const others = verbs.map(verbOf).join(" ");
  return [...seen, ...(others === "" ? [] : [`not __fish_seen_subcommand_from ${others}`])].join("; and ");
}

/** fish does not count arguments: it proposes for each of them what any of them may be. */
function fishPositionals(spec: CommandDescription): readonly string[] {
  const { first, rest } = positionalCandidates(spec);
  return [...new Set([first, rest].flatMap((candidates) => proposalOf(candidates) ?? []))];
}

function proposalOf(candidates: Candidates): string | null {
  switch (candidates.kind) {
    case "words":
      return `-a ${quoted(candidates.words.join(" "))}`;
    case "file":
      return "-F";
    case "names":
      return `-a '(__rolecall_names ${candidates.of})'`;
    case "nothing":
      return null;
  }
}

function fishOption(option: OptionSpec): string {
  const { name, short, value, help } = option;
  const candidates = valueCandidates(option);
  const words =
    candidates.kind === "file" ? " -r -F" : ` -x${proposalOf(candidates) === null ? "" : ` ${proposalOf(candidates)}`}`;
  return `-l ${name}${short === undefined ? "" : ` -s ${short}`}${value === undefined ? "" : words} -d ${quoted(help)}`;
}
