import { type ForeignOption, parseArguments, type ParsedArguments } from "../core/command/framework/arguments.ts";
import type { CommandSpec } from "../core/command/framework/command.ts";
import type { OptionSpec } from "../core/command/framework/command-description.ts";
import { formOf, selectable, verbOf } from "../core/command/framework/verbs.ts";
import { commonOptions, serverOptions } from "../core/command/framework/options.ts";
import { commands, hiddenCommands } from "./specs/commands.ts";

/** What a command line calls. */
export interface CommandLine extends ParsedArguments {
  /** The command, its verb or its form; `null` if the name is unknown. */
  readonly spec: CommandSpec | null;
  /** The name of the command as given; the empty text if there is none. */
  readonly name: string;
  /** The name in the result document. */
  readonly documentName: string;
  /** What to say on stderr: that the name is an old one, and that options are without effect. */
  readonly notes: readonly string[];
}

/**
 * Finds what a command line calls, and parses its arguments. Options that every command has, or that name the server,
 * may stand before the command. A name of an earlier version is replaced by that of now.
 */
export async function parseCommandLine(argv: readonly string[]): Promise<CommandLine> {
  const at = commandIndex(argv);
  const first = argv[at] ?? "";
  const name = first === "--version" ? "version" : first;
  const command = [...commands, ...hiddenCommands].find((candidate) => candidate.name === name) ?? null;
  if (command === null) return (await parseOldName(argv, at)) ?? unknownCommand(name, argv);
  const { spec, rest } = selected(command, [...argv.slice(0, at), ...argv.slice(at + 1)]);
  const parsed = parseArguments(spec, rest, foreignOptions(command, spec));
  const notes = (parsed.problem === null ? parsed.unused : []).map(
    (option) => `rolecall ${spec.name} does not use --${option}, which is an error from 2.0 on`,
  );
  return { spec, name, documentName: spec.documentName ?? spec.name, notes, ...parsed };
}

function unknownCommand(name: string, argv: readonly string[]): CommandLine {
  return { spec: null, name, documentName: "rolecall", notes: [], ...parseArguments(null, argv) };
}

/** Parses the line that replaces one with an old name; `null` if the name is none. Only then is the table loaded. */
async function parseOldName(argv: readonly string[], at: number): Promise<CommandLine | null> {
  const { renamed } = await import("./renamed.ts");
  const valued = valuedIn([...commands, ...hiddenCommands]);
  const words = [at, ...positionalsAfter(argv, at, valued)];
  const found = renamed(argv, words);
  if (found === null) return null;
  const { name, documentName, argv: current, note } = found;
  const parsed = await parseCommandLine(current);
  return { ...parsed, name, documentName, notes: [note, ...parsed.notes] };
}

/** The verb or the form that the arguments of a command select, and its own arguments; else the command itself. */
function selected(
  command: CommandSpec,
  argv: readonly string[],
): { readonly spec: CommandSpec; readonly rest: readonly string[] } {
  const verbs = command.verbs ?? [];
  const [at = -1] = verbs.length === 0 ? [] : positionalsAfter(argv, -1, valuedIn([command]));
  const verb = verbs.find((candidate) => verbOf(candidate) === argv[at]);
  const words = verb === undefined ? argv : argv.toSpliced(at, 1);
  const spec = verb ?? command;
  const given = (spec.forms ?? []).filter((form) => isGiven(formOf(form), words));
  // Of several the one that has the options of the others: --member takes --end.
  const form = given.find(({ options }) => given.every((other) => options.some(({ name }) => name === formOf(other))));
  return { spec: form ?? given[0] ?? spec, rest: words };
}

/** The options of a command, its verbs and forms that the selected one does not have. */
function foreignOptions(command: CommandSpec, spec: CommandSpec): readonly ForeignOption[] {
  return selectable(command).flatMap((other) =>
    other.options.map((option) => ({
      option,
      problem:
        spec === command
          ? `--${option.name} can be used only with ${other.name}`
          : `--${option.name} cannot be used with ${spec.name}`,
    })),
  );
}

function isGiven(option: string, argv: readonly string[]): boolean {
  return argv.some((word) => word === `--${option}` || word.startsWith(`--${option}=`));
}

/** The index of the command's name: the first argument that is neither an option nor the value of one. */
function commandIndex(argv: readonly string[]): number {
  const leading = [...commonOptions, ...serverOptions];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    const option = leading.find(({ name }) => word === `--${name}` || word.startsWith(`--${name}=`));
    if (option === undefined || option.name === "help") return at;
    if (option.value !== undefined && !word.includes("=")) at += 1;
  }
  return argv.length;
}

/**
 * The indexes of the arguments after one that are neither options nor their values.
 * @param valued the spellings of the options that take a value
 */
function positionalsAfter(argv: readonly string[], after: number, valued: ReadonlySet<string>): readonly number[] {
  const found: number[] = [];
  for (let at = after + 1; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (!/^-./.test(word)) found.push(at);
    // As the parser has it: an option is no value of another.
    else if (valued.has(word) && !/^-./.test(argv[at + 1] ?? "")) at += 1;
  }
  return found;
}

/** The spellings of the options that take a value, of commands, their verbs and forms. */
function valuedIn(all: readonly CommandSpec[]): ReadonlySet<string> {
  const options: readonly OptionSpec[] = [
    ...all.flatMap(({ options: own, verbs = [], forms = [] }) => [
      ...own,
      ...[...verbs, ...forms].flatMap((part) => part.options),
      ...verbs.flatMap((verb) => (verb.forms ?? []).flatMap((form) => form.options)),
    ]),
    ...commonOptions,
  ];
  return new Set(
    options
      .filter(({ value }) => value !== undefined)
      .flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]),
  );
}
