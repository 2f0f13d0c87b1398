import { parseDuration } from "../../cluster/values/duration.ts";
import { CommandError } from "./command-error.ts";

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
  const ms = parseDurationOption(text);
  if (ms !== undefined && ms >= 1) return ms;
  throw new CommandError(
    "RC001",
    `${from} must be a duration such as 500ms, 30s, 30m or 14d, got ${JSON.stringify(text)}`,
  );
}

/**
 * Parses a duration as people type it: besides the units of the configuration, `m` is minutes (`30m`).
 * @returns ms, or `undefined` if the text is not a duration
 */
export function parseDurationOption(text: string): number | undefined {
  return parseDuration(text.replace(/^(\d+(?:\.\d+)?)m$/, "$1min"));
}
