import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError } from "../../../command/framework/command-error.ts";
import { errorMessage } from "../../../cluster/values/error-message.ts";

/** One of the files that a command renders. */
export interface RenderedFile {
  /** Its path below the directory of the option `--directory`. */
  readonly name: string;
  readonly text: string;
}

/**
 * Writes rendered files. Existing files are replaced.
 * @param directory where to; it is created with its parents
 * @throws CommandError (RC150) if a file cannot be written
 */
export function writeRendered(directory: string, files: readonly RenderedFile[]): void {
  try {
    for (const { name, text } of files) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), text);
    }
  } catch (error) {
    throw new CommandError("RC150", `Cannot write to ${directory}: ${errorMessage(error)}`);
  }
}
