/** What a shell can complete: names that rolecall or the contexts file knows, routes of checks, or files. */
export type Completion = "node" | "cluster" | "member" | "context" | "check" | "file";

/** One option of a command. Parsing, help, completion and documentation are derived from it. */
export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** The placeholder of the option's value, such as `FILE`; a boolean option has none. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly choices?: readonly string[];
  /** Choices that the registries add: every part of the program brings its own. */
  readonly choicesOf?: "event kinds";
  /**
   * What a shell completes for the value, unless there are choices: names, or words that the parser does not enforce.
   * Values with the placeholder FILE are files.
   */
  readonly completes?: Completion | readonly string[];
  readonly help: string;
}

/** The positional arguments of a command. */
export interface Positionals {
  /** As the usage line shows them: `CHECK`. */
  readonly usage: string;
  readonly least: number;
  readonly most: number;
  /** The allowed values of the first one, if they are limited. */
  readonly choices?: readonly string[];
  /** What a shell completes for them; with `choices`, for those after the first. By default nothing. */
  readonly completes?: Completion;
}

/** How a command is called, for people, shells and the parser. */
export interface CommandDescription {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly about: string;
  readonly positionals?: Positionals;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly string[];
}
