import { readProgramFile } from "../../../core/program/program-files.ts";
import { CommandError } from "../../../core/command/framework/command-error.ts";

/**
 * Reads a file of `deploy/`, as it is rendered without options, and substitutes what options change.
 * @param name its path in `deploy/`
 * @param substitutions texts of the file, and what replaces each of them wherever it occurs
 * @throws CommandError (RC006) if this installation of rolecall lacks the file
 * @throws Error if the file lacks a text: the option would have no effect
 */
export function deployFile(name: string, substitutions: readonly (readonly [string, string])[]): string {
  const file = readProgramFile(`deploy/${name}`);
  if (file === null)
    throw new CommandError("RC006", `Cannot render: this installation of rolecall lacks deploy/${name}`);
  return substitutions.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`deploy/${name} must contain ${JSON.stringify(from)}`);
    return text.replaceAll(from, () => to);
  }, file.toString());
}
