import type { Arguments } from "./arguments.ts";
import type { CommandDescription } from "./command-description.ts";
import type { Io } from "../output/io.ts";
import type { Progress } from "../output/progress.ts";
import type { ResultBuilder } from "../result/builder.ts";
import type { Style } from "../output/style.ts";

/** What stdout receives: text for people, or the result document in one of its notations. */
export type OutputFormat = "text" | "json" | "yaml";

/** One run of a command: its arguments, and where its output and findings go. */
export interface CommandContext {
  readonly args: Arguments;
  /** All commands of the program. */
  readonly commands: readonly CommandDescription[];
  readonly format: OutputFormat;
  readonly result: ResultBuilder;
  readonly style: Style;
  readonly progress: Progress;
  /** Aborted when the command must end: on Ctrl-C or SIGTERM, or when the reader of its output is gone. */
  readonly signal: AbortSignal;
  readonly io: Io;
  /** Writes text to stdout; does nothing if the output is a document. */
  readonly print: (text: string) => void;
  /**
   * Sets what reports the result so far if a signal ends the command: it may print, and must not wait. It replaces the
   * one that was set before. A text that it returns says what to do next.
   */
  readonly onInterrupt: (report: () => string | void) => void;
}
