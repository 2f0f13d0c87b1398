import { routePaths } from "../../core/health/route.ts";
import type { CommandDescription, Completion, OptionSpec } from "../../core/command/framework/command-description.ts";
import { optionsWithForms } from "../../core/command/framework/verbs.ts";
import { commonOptions } from "../../core/command/framework/options.ts";

/** What a shell proposes for one word of a command line. */
export type Candidates =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "file" }
  /** Names that `rolecall __complete` prints. */
  | { readonly kind: "names"; readonly of: "node" | "cluster" | "member" | "context" }
  | { readonly kind: "nothing" };

/** Every option of a command and of its forms. */
export function optionsOf(spec: CommandDescription): readonly OptionSpec[] {
  return [...optionsWithForms(spec), ...commonOptions];
}

/** The commands and their verbs, which have options of their own. */
export function withVerbsOf(commands: readonly CommandDescription[]): readonly CommandDescription[] {
  return commands.flatMap((command) => [command, ...(command.verbs ?? [])]);
}

/** What to propose for the value of an option. */
export function valueCandidates({ value, choices, completes }: OptionSpec): Candidates {
  if (choices !== undefined) return { kind: "words", words: choices };
  if (completes !== undefined) return candidatesOf(completes);
  return value?.startsWith("FILE") === true ? { kind: "file" } : { kind: "nothing" };
}

/** What to propose for the first positional argument of a command, and for those after it. */
export function positionalCandidates({ positionals }: CommandDescription): {
  readonly first: Candidates;
  readonly rest: Candidates;
} {
  const { choices, completes, most = 0 } = positionals ?? {};
  const others: Candidates = completes === undefined ? { kind: "nothing" } : candidatesOf(completes);
  return {
    first: choices === undefined ? others : { kind: "words", words: choices },
    rest: most > 1 ? others : { kind: "nothing" },
  };
}

function candidatesOf(completes: Completion | readonly string[]): Candidates {
  if (typeof completes !== "string") return { kind: "words", words: completes };
  if (completes === "file") return { kind: "file" };
  return completes === "check" ? { kind: "words", words: routePaths() } : { kind: "names", of: completes };
}

/** Quotes text for POSIX shells, zsh and fish. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
