import { parseArgs, type ParseArgsConfig } from "node:util";
import { suggest } from "../../cluster/values/did-you-mean.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import type { CommandDescription, OptionSpec } from "./command-description.ts";
import { CommandError } from "./command-error.ts";
import { commonOptions } from "./options.ts";

/** The parsed arguments of one command. */
export class Arguments {
  readonly positionals: readonly string[];
  readonly #values: ReadonlyMap<string, readonly string[]>;
  readonly #flags: ReadonlySet<string>;

  constructor(
    positionals: readonly string[],
    values: ReadonlyMap<string, readonly string[]>,
    flags: ReadonlySet<string>,
  ) {
    this.positionals = positionals;
    this.#values = values;
    this.#flags = flags;
  }

  /** The last value of an option, or `null` if it was not given. */
  text(name: string): string | null {
    return this.#values.get(name)?.at(-1) ?? null;
  }

  /** The same arguments with one more value of an option. */
  with(name: string, value: string): Arguments {
    const values = new Map([...this.#values, [name, [...this.list(name), value]]]);
    return new Arguments(this.positionals, values, this.#flags);
  }

  /** Every value of an option, in order. */
  list(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  /** Whether a boolean option was given. */
  has(name: string): boolean {
    return this.#flags.has(name);
  }

  /**
   * Returns the duration that an option gives, in ms.
   * @param fallback the duration to use if the option was not given, such as `10s`
   * @throws CommandError (RC001) if the value is not a duration of at least 1 ms
   */
  duration(name: string, fallback: string): number {
    return durationOption(`--${name}`, this.text(name) ?? fallback);
  }

  /**
   * Returns the integer that an option gives, or `fallback` if it was not given.
   * @throws CommandError (RC001) if the value is not an integer from `min` to `max`
   */
  integer(name: string, fallback: number, [min, max]: readonly [number, number]): number {
    const text = this.text(name);
    if (text === null) return fallback;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max))
      throw new CommandError(
        "RC001",
        `--${name} must be an integer from ${min} to ${max}, got ${JSON.stringify(text)}`,
      );
    return value;
  }
}

/**
 * Returns a duration that an option or a variable gives, in ms.
 * @param from the option or variable, for the message
 * @throws CommandError (RC001) if the text is not a duration of at least 1 ms
 */
export function durationOption(from: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 1) return ms;
  throw new CommandError(
    "RC001",
    `${from} must be a duration such as 500ms, 30s, 30m or 14d, got ${JSON.stringify(text)}`,
  );
}

/** A parsed command line. */
export interface ParsedArguments {
  /** The valid arguments. The common options are usable even if `problem` is set: they control how it is reported. */
  readonly args: Arguments;
  /** Why the command cannot run with these arguments (RC001), or `null`. */
  readonly problem: CommandError | null;
  /** The options that were given without effect. */
  readonly unused: readonly string[];
}

/** The calling convention of a command, without its texts. */
export type ArgumentsSpec = Pick<CommandDescription, "name" | "positionals" | "options" | "unusedOptions">;

/** An option that another verb or form of the command has. */
export interface ForeignOption {
  readonly option: OptionSpec;
  /** What to say where it is given. */
  readonly problem: string;
}

/**
 * Parses the arguments that follow the command's name. Never throws: a problem is part of the result.
 * @param spec the command; `null` if the command is unknown, in which case only the common options are read
 * @param others options that it does not have, but that are no misspelt ones
 */
export function parseArguments(
  spec: ArgumentsSpec | null,
  argv: readonly string[],
  others: readonly ForeignOption[] = [],
): ParsedArguments {
  const options = [...(spec?.options ?? []), ...commonOptions];
  const unusedOptions = (spec?.unusedOptions ?? []).filter(({ name }) => options.every((one) => one.name !== name));
  const taken = [...options, ...unusedOptions];
  const foreign = others.filter(({ option }) => taken.every(({ name }) => name !== option.name));
  const known = [...taken, ...foreign.map(({ option }) => option)];
  const values = new Map<string, string[]>();
  const flags = new Set<string>();
  const positionals: string[] = [];
  const problems: string[] = [];
  for (const token of tokenize(argv, parserOptions(known))) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const option = taken.find(({ name }) => name === token.name);
    const elsewhere = foreign.find((other) => other.option.name === token.name);
    const problem =
      elsewhere?.problem ??
      (option === undefined ? unknownOption(token.rawName, spec?.name ?? "", options) : problemOf(option, token));
    if (problem !== null) problems.push(problem);
    else if (token.value === undefined) flags.add(token.name);
    else values.set(token.name, [...(values.get(token.name) ?? []), token.value]);
  }
  const args = new Arguments(positionals, values, flags);
  if (spec === null) return { args, problem: null, unused: [] };
  const problem =
    problems[0] ?? choiceProblem(options, args) ?? (args.has("help") ? null : positionalProblem(spec, positionals));
  const isGiven = (name: string): boolean => flags.has(name) || values.has(name);
  return {
    args,
    problem: problem === null ? null : new CommandError("RC001", problem, helpAction(spec)),
    unused: [...new Set(unusedOptions.map(({ name }) => name))].filter(isGiven),
  };
}

type ParserOptions = NonNullable<ParseArgsConfig["options"]>;
type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];

/**
 * Splits a command line into tokens with `parseArgs`. Without `strict`, which throws at the first problem, before
 * --format is known. An option whose value is missing must not consume the option after it: `--server --format json`.
 */
function tokenize(argv: readonly string[], options: ParserOptions): readonly Token[] {
  const { tokens } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: false, tokens: true });
  const at = tokens.findIndex(
    (token) => token.kind === "option" && token.inlineValue === false && /^-./.test(token.value),
  );
  const token = tokens[at];
  if (token?.kind !== "option") return tokens;
  const withoutValue = { ...token, value: undefined, inlineValue: undefined };
  return [...tokens.slice(0, at), withoutValue, ...tokenize(argv.slice(token.index + 1), options)];
}

function parserOptions(options: readonly OptionSpec[]): ParserOptions {
  return Object.fromEntries(
    options.map(({ name, short, value }) => [
      name,
      { type: value === undefined ? "boolean" : "string", multiple: true, ...(short === undefined ? {} : { short }) },
    ]),
  );
}

function helpAction({ name }: ArgumentsSpec): string {
  // The help of a form, such as drain --list, is that of its command.
  return `Run rolecall ${name.replace(/ --.*/, "")} --help for its arguments and options.`;
}

/** Says that there is no such option, and which one may be meant. A verb or form says that it has none: its command may. */
function unknownOption(rawName: string, command: string, options: readonly OptionSpec[]): string {
  const subject = command.includes(" ") ? `'${rawName}' of ${command}` : `'${rawName}'`;
  const names = options.map(({ name }) => `--${name}`);
  const meant = rawName.startsWith("--") ? suggest(rawName, names) : null;
  return meant === null
    ? `Unknown option ${subject}: it must be one of ${names.join(", ")}`
    : `Unknown option ${subject}: did you mean ${meant}?`;
}

/** Why an option cannot be used as it was written, or `null`. */
function problemOf(
  option: OptionSpec,
  { rawName, value }: { rawName: string; value?: string | undefined },
): string | null {
  if (option.value === undefined) return value === undefined ? null : `Option '${rawName}' takes no value`;
  return value === undefined ? `Option '${rawName} ${option.value}' needs a value` : null;
}

function choiceProblem(options: readonly OptionSpec[], args: Arguments): string | null {
  for (const { name, choices = [] } of options) {
    const wrong = choices.length === 0 ? undefined : args.list(name).find((value) => !choices.includes(value));
    if (wrong !== undefined) return `--${name} must be ${oneOf(choices, wrong)}`;
  }
  return null;
}

function positionalProblem({ name, positionals }: ArgumentsSpec, given: readonly string[]): string | null {
  const { usage = "no arguments", least = 0, most = 0, choices } = positionals ?? {};
  const [first] = given;
  if (first !== undefined && choices !== undefined && !choices.includes(first))
    return `The first argument of ${name} must be ${oneOf(choices, first)}`;
  if (given.length < least || given.length > most)
    return `${name} takes ${usage}, got ${given.length === 0 ? "nothing" : JSON.stringify(given.join(" "))}`;
  return null;
}

/** Lists what is allowed, what was given, and what may be meant. */
function oneOf(choices: readonly string[], given: string): string {
  const near = suggest(given, choices);
  const hint = near === null ? "" : `: did you mean ${near}?`;
  return `one of ${choices.join(", ")}, got ${JSON.stringify(given)}${hint}`;
}
