import type { Arguments } from "./arguments.ts";
import { CommandError } from "./command-error.ts";
import type { CommandContext } from "./command-context.ts";
import type { CommandSpec, RunCommand } from "./command.ts";
import type { Completion, OptionSpec } from "./command-description.ts";

/** What a command does when its first argument is the name of this verb. The second one is what it is done to. */
export interface CommandVerb {
  /** Options that this verb alone has. */
  readonly options?: readonly OptionSpec[];
  /** As that of a command. */
  readonly isService?: boolean;
  readonly load: () => Promise<(context: CommandContext, subject: string) => Promise<void>>;
}

/** Verbs that a feature adds to the command of another. */
export interface CommandVerbs {
  /** The name of the command. */
  readonly of: string;
  /** What the verbs take, as the usage line shows it: `FILE`. */
  readonly usage: string;
  readonly completes: Completion;
  readonly about: string;
  readonly examples: readonly string[];
  /** The option of the command before which those of the verbs are listed. */
  readonly optionsBefore: string;
  /** Options of the command that its verbs do not take. */
  readonly refuses: readonly string[];
  readonly verbs: Readonly<Record<string, CommandVerb>>;
}

/** Adds verbs to a command that takes no positional arguments itself. */
export function withVerbs(command: CommandSpec, added: CommandVerbs): CommandSpec {
  const { usage, completes, about, examples, optionsBefore, verbs } = added;
  const names = Object.keys(verbs);
  const own = Object.values(verbs).flatMap(({ options = [] }) => options);
  const at = command.options.findIndex(({ name }) => name === optionsBefore);
  const verbOf = (args: Arguments): CommandVerb | undefined => verbs[args.positionals[0] ?? ""];
  return {
    ...command,
    about: `${command.about}\n${about}`,
    positionals: { usage: `[${names.join("|")} ${usage}]`, least: 0, most: 2, choices: names, completes },
    options: command.options.toSpliced(at, 0, ...own),
    examples: [...command.examples, ...examples],
    isService: (args) => verbOf(args)?.isService ?? false,
    load: () => Promise.resolve(runOf(command, added)),
  };
}

/** @throws CommandError (RC001) for an option that belongs to another verb, or to none, and for a missing argument */
function runOf(command: CommandSpec, { usage, refuses, verbs }: CommandVerbs): RunCommand {
  return async (context) => {
    const { args } = context;
    const [name, subject] = args.positionals;
    for (const [other, { options = [] }] of Object.entries(verbs))
      for (const option of options)
        if (other !== name && args.text(option.name) !== null)
          throw new CommandError("RC001", `--${option.name} can be used only with ${command.name} ${other}`);
    const verb = name === undefined ? undefined : verbs[name];
    if (verb === undefined) return (await command.load())(context);
    if (subject === undefined) throw new CommandError("RC001", `${command.name} ${name} takes ${usage}, got nothing`);
    const given = refuses.find((option) => args.text(option) !== null);
    if (given !== undefined) throw new CommandError("RC001", `--${given} cannot be used with ${command.name} ${name}`);
    return (await verb.load())(context, subject);
  };
}
