import type { KnownCheck } from "../result/builder.ts";
import type { CommandContext } from "./command-context.ts";

/** One option of a command: from it come parsing, help, completion and documentation. */
export interface OptionSpec {
  readonly name: string;
  readonly short?: string;
  /** What its value is called, as `FILE`; a yes-or-no option has none. */
  readonly value?: string;
  readonly multiple?: boolean;
  readonly choices?: readonly string[];
  readonly help: string;
}

/** What follows the command's name and is no option. */
export interface Positionals {
  /** As usage shows it: `CHECK`. */
  readonly usage: string;
  readonly least: number;
  readonly most: number;
  /** What the first may be, where it is one of a few words. */
  readonly choices?: readonly string[];
}

/** Does a command's work. What it finds goes into the session's result; the exit code follows from that. */
export type Run = (context: CommandContext) => Promise<void>;

/** One command, as told to people and shells; its work is loaded when it is asked for. */
export interface CommandSpec {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  readonly about: string;
  readonly positionals?: Positionals;
  readonly options: readonly OptionSpec[];
  readonly examples: readonly string[];
  /** Every check that it knows. */
  readonly checks: readonly KnownCheck[];
  /** Where findings are written in text: beside the output, unless that is a file for another program. */
  readonly findingsTo?: "stderr";
  /** It runs until a signal ends it, and sees to that itself. */
  readonly isService?: boolean;
  readonly load: () => Promise<Run>;
}

/** A command cannot go on: a finding that ends it with exit code 2. */
export class CommandError extends Error {
  readonly rule: "RC001" | "RC004" | "RC005" | "RC006" | "RC007" | "RC008" | "RC107";

  constructor(rule: CommandError["rule"], message: string) {
    super(message);
    this.name = "Stop";
    this.rule = rule;
  }
}
