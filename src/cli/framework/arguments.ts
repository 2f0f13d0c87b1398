import { parseArgs } from "node:util";
import { parseDuration } from "../../cluster/values/duration.ts";
import { CommandError, type CommandSpec, type OptionSpec } from "./command.ts";
import { commonOptions } from "./options.ts";

/** A command line, read by its command's table. */
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

  /** The last value of an option; `null` where it was not given. */
  text(name: string): string | null {
    return this.#values.get(name)?.at(-1) ?? null;
  }

  /** Every value of an option, in order. */
  list(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#flags.has(name);
  }

  /** A span of time in ms; `m` is read as minutes. @throws Stop where it is none */
  duration(name: string, otherwise: string): number {
    const text = this.text(name) ?? otherwise;
    const ms = parseDurationOption(text);
    if (ms === undefined || ms < 1)
      throw new CommandError(
        "RC001",
        `--${name} must be a time such as 500ms, 30s, 30m, 14d: it is ${JSON.stringify(text)}`,
      );
    return ms;
  }

  /** A whole number within bounds. @throws Stop where it is none */
  integer(name: string, otherwise: number, [least, most]: readonly [number, number]): number {
    const text = this.text(name);
    if (text === null) return otherwise;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new CommandError(
        "RC001",
        `--${name} must be a whole number from ${least} to ${most}: it is ${JSON.stringify(text)}`,
      );
    return value;
  }
}

/** Reads a span as people type it: `30m` is 30 minutes, beside the units of the configuration. @returns ms, or `undefined` */
export function parseDurationOption(text: string): number | undefined {
  return parseDuration(text.replace(/^(\d+(?:\.\d+)?)m$/, "$1min"));
}

/**
 * Reads a command line by its command's table.
 * @throws Stop (RC001) that names what is wrong and what is allowed
 */
export function readArguments(spec: CommandSpec, argv: readonly string[]): Arguments {
  const options = [...spec.options, ...commonOptions];
  const { values, positionals } = parsed(spec, options, argv);
  const texts = new Map<string, readonly string[]>();
  const flags = new Set<string>();
  for (const option of options) {
    const value = values[option.name];
    if (value === true) flags.add(option.name);
    const given = Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
    if (given.length === 0) continue;
    texts.set(option.name, given);
    const strange =
      option.choices === undefined ? undefined : given.find((one) => option.choices?.includes(one) !== true);
    if (strange !== undefined)
      throw new CommandError(
        "RC001",
        `--${option.name} must be one of ${option.choices?.join(", ")}: it is ${JSON.stringify(strange)}`,
      );
  }
  if (!flags.has("help")) checkPositionals(spec, positionals);
  return new Arguments(positionals, texts, flags);
}

function parsed(
  spec: CommandSpec,
  options: readonly OptionSpec[],
  argv: readonly string[],
): { readonly values: { readonly [name: string]: unknown }; readonly positionals: readonly string[] } {
  const entries = options.map(
    ({ name, short, value }) =>
      [
        name,
        value === undefined
          ? { type: "boolean" as const, ...(short === undefined ? {} : { short }) }
          : { type: "string" as const, multiple: true, ...(short === undefined ? {} : { short }) },
      ] as const,
  );
  try {
    return parseArgs({ args: [...argv], options: Object.fromEntries(entries), allowPositionals: true, strict: true });
  } catch (error) {
    const said = error instanceof Error ? (error.message.split(". To specify")[0] ?? "") : String(error);
    throw new CommandError(
      "RC001",
      `${said}. Options of ${spec.name}: ${options.map(({ name }) => `--${name}`).join(", ")}`,
    );
  }
}

function checkPositionals({ name, positionals }: CommandSpec, given: readonly string[]): void {
  const { usage = "nothing", least = 0, most = 0, choices } = positionals ?? {};
  if (given.length < least || given.length > most) {
    throw new CommandError(
      "RC001",
      `${name} takes ${usage}: it was given ${given.length === 0 ? "nothing" : JSON.stringify(given.join(" "))}`,
    );
  }
  const [first] = given;
  if (first !== undefined && choices !== undefined && !choices.includes(first)) {
    throw new CommandError(
      "RC001",
      `${name} takes ${usage}, the first one of ${choices.join(", ")}: it is ${JSON.stringify(first)}`,
    );
  }
}
