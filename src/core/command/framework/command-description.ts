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
  /** The words that call it: `status`; of a verb `status routes`, of a form `drain --list`. */
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly about: string;
  readonly positionals?: Positionals;
  readonly options: readonly OptionSpec[];
  /** Options that are accepted without effect until 2.0: help and completion do not list them. */
  readonly unusedOptions?: readonly OptionSpec[];
  readonly examples: readonly string[];
  /** What the word after the command's name selects: each has options of its own. */
  readonly verbs?: readonly CommandDescription[];
  /** What an option selects: the command then takes the arguments and options of this form, and no others. */
  readonly forms?: readonly CommandDescription[];
}
