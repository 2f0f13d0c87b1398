import type { Arguments } from "./arguments.ts";
import type { CommandSpec } from "./command.ts";
import type { Io } from "../output/io.ts";
import type { Progress } from "../output/progress.ts";
import type { ResultBuilder } from "../result/builder.ts";
import type { Style } from "../output/style.ts";

/** One run of a command: what it was asked, and where what it finds goes. */
export interface CommandContext {
  readonly args: Arguments;
  /** Every command there is. */
  readonly commands: readonly CommandSpec[];
  readonly format: "text" | "json";
  readonly result: ResultBuilder;
  readonly style: Style;
  readonly progress: Progress;
  /** Aborted when the command is to end: Ctrl-C, SIGTERM, or nobody reads its output. */
  readonly signal: AbortSignal;
  readonly io: Io;
  /** Writes text for people on stdout; says nothing where a document was asked for. */
  readonly print: (text: string) => void;
}
