import { stat } from "node:fs/promises";
import { isHistoryDirectory } from "../store/history-directory.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";
import type { CommandContext } from "../../../core/command/framework/command-context.ts";
import { errorMessage } from "../../../core/cluster/values/error-message.ts";

/** The history that `--directory` names. */
export interface HistoryDirectory {
  readonly path: string;
  /** Reports damaged lines of a file as a warning. */
  readonly onDamaged: (file: string, lines: number) => void;
}

/**
 * Checks that `--directory` names the directory of a history. This works whether or not rolecall is running.
 * @throws CommandError (RC006) if there is no such directory, or if it has no history
 */
export async function requireHistoryDirectory(
  { result }: Pick<CommandContext, "result">,
  path: string,
): Promise<HistoryDirectory> {
  const info = await stat(path).catch((error: unknown) => {
    throw new CommandError("RC006", `Cannot read --directory: ${errorMessage(error)}`);
  });
  if (!info.isDirectory())
    throw new CommandError("RC006", `Cannot read --directory: ${path} must be a directory, got another kind of file`);
  if (!(await isHistoryDirectory(path)))
    throw new CommandError(
      "RC006",
      `Cannot read --directory: ${path} must be the directory of a history, got one without history files`,
    );
  const onDamaged = (file: string, lines: number): void =>
    result.diagnose("RC006", { message: `${file}: ${lines} damaged lines left out`, severity: "warning" });
  return { path, onDamaged };
}
