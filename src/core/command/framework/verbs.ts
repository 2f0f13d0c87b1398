/** Verbs and forms: what the word after a command's name, or one of its options, makes of the command. */
import type { CommandSpec } from "./command.ts";
import type { CommandDescription, OptionSpec } from "./command-description.ts";

/** Verbs and forms that one part of the program adds to the command of another. */
export interface CommandAddition {
  /** The name of the command. */
  readonly of: string;
  readonly verbs?: readonly CommandSpec[];
  readonly forms?: readonly CommandSpec[];
}

/** A command that does nothing without a verb. */
export interface VerbCommand extends Pick<CommandSpec, "name" | "summary" | "about" | "checks"> {
  readonly verbs: readonly CommandSpec[];
}

/** Returns a command that needs one of its verbs: `rolecall node restart`. Its examples are the first of each verb. */
export function verbCommand({ verbs, ...command }: VerbCommand): CommandSpec {
  return withVerbs({ ...command, options: [], examples: [], load: null }, verbs);
}

/** Adds what other parts of the program add to a command. */
export function withAdditions(command: CommandSpec, additions: readonly CommandAddition[]): CommandSpec {
  const own = additions.filter(({ of }) => of === command.name);
  const verbs = own.flatMap((added) => added.verbs ?? []);
  const forms = own.flatMap((added) => added.forms ?? []);
  const formed = forms.length === 0 ? command : { ...command, forms: [...(command.forms ?? []), ...forms] };
  return verbs.length === 0 ? formed : withVerbs(formed, verbs);
}

/** Adds verbs to a command, which takes no arguments itself. */
export function withVerbs(command: CommandSpec, added: readonly CommandSpec[]): CommandSpec {
  const verbs = [...(command.verbs ?? []), ...added];
  const choices = verbs.map((verb) => verbOf(verb));
  const words = choices.join("|");
  const isNeeded = command.load === null;
  return {
    ...command,
    verbs,
    positionals: { usage: isNeeded ? words : `[${words}]`, least: isNeeded ? 1 : 0, most: 1, choices },
    // Where a verb is missing or misspelt, its options are not what is wrong.
    ...(isNeeded ? { unusedOptions: verbs.flatMap(({ options }) => options) } : {}),
    examples: isNeeded ? verbs.flatMap(({ examples }) => examples.slice(0, 1)) : command.examples,
  };
}

/** A command, its verbs, and the forms of all: everything that a command line can select. */
export function selectable(command: CommandSpec): readonly CommandSpec[];
export function selectable(command: CommandDescription): readonly CommandDescription[];
export function selectable(command: CommandDescription): readonly CommandDescription[] {
  return [command, ...(command.verbs ?? []).flatMap(selectable), ...(command.forms ?? [])];
}

/** The word that selects a verb: `routes` of `status routes`. */
export function verbOf({ name }: CommandDescription): string {
  return name.slice(name.lastIndexOf(" ") + 1);
}

/** The option that selects a form: `list` of `drain --list`. */
export function formOf({ name }: CommandDescription): string {
  return name.slice(name.indexOf(" --") + 3);
}

/** The words of a command or verb that a form belongs to; of others the name. */
export function commandWordsOf({ name }: Pick<CommandDescription, "name">): string {
  const [words = name] = name.split(" --");
  return words;
}

/** The options of a command and of its forms, each once: what its help lists. */
export function optionsWithForms({ options, forms = [] }: CommandDescription): readonly OptionSpec[] {
  const names = new Map<string, OptionSpec>();
  for (const option of [...forms.flatMap((form) => form.options), ...options]) names.set(option.name, option);
  const order = [...options, ...forms.flatMap((form) => form.options)];
  return [...new Set(order.map(({ name }) => name))].flatMap((name) => names.get(name) ?? []);
}
