import { isReason } from "../../health/reason.ts";
import { reasonLink } from "../../config/reason-link.ts";
import type { CommandContext } from "../framework/command-context.ts";
import type { OptionSpec } from "../framework/command-description.ts";
import { serverOptions, sourceOptions } from "../framework/options.ts";

/** A command line to suggest. An option that is `null` is left out. */
export interface SuggestedCommand {
  readonly name: string;
  readonly positionals?: readonly string[];
  readonly options?: Readonly<Record<string, string | null>>;
}

/**
 * Writes a command line to paste into a shell. It repeats the options by which the present command reaches rolecall or
 * the nodes, such as `--server` and `--context`.
 */
export function nextCommand({ args }: Pick<CommandContext, "args">, suggested: SuggestedCommand): string {
  const own = Object.entries(suggested.options ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [`--${name}`, value],
  );
  const words = ["rolecall", suggested.name, ...(suggested.positionals ?? []), ...own].map(shellWord);
  return [...words, ...sourceWords(args)].join(" ");
}

/** Returns the options of a command line that say where rolecall or the nodes are, ready for a shell. */
export function sourceWords(args: CommandContext["args"]): readonly string[] {
  return [...serverOptions, ...sourceOptions].flatMap(({ name, value }: OptionSpec) => {
    if (value === undefined) return args.has(name) ? [`--${name}`] : [];
    return args.list(name).map((text) => `--${name} ${shellWord(text)}`);
  });
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * `See docs/reasons.md#lagging`, for each distinct reason that this version knows; the empty text for none, and where
 * the documents are not installed.
 */
export function seeReasons(reasons: readonly (string | null)[]): string {
  const links = [...new Set(reasons)]
    .map((reason) => (reason !== null && isReason(reason) ? reasonLink(reason) : null))
    .filter((link) => link !== null);
  return links.length === 0 ? "" : `See ${links.join(", ")}`;
}
