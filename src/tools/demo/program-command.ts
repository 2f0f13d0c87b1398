import { accessSync, constants, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, sep } from "node:path";

/**
 * Returns the command that makes `rolecall` run this program in another shell.
 * @param program the path of this program's entry file
 * @param path the search path for commands (PATH)
 * @returns `null` if `rolecall` already runs it there
 */
export function aliasOfProgram(program: string, path: string): string | null {
  const real = realPath(program);
  // npm adds these folders for its own child processes only: the user's shell does not have them.
  const folders = path.split(delimiter).filter((folder) => folder !== "" && !folder.includes("node_modules"));
  if (folders.some((folder) => realPath(join(folder, "rolecall")) === real)) return null;
  return `alias rolecall='node ${shellWord(real ?? program)}'`;
}

function realPath(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return realpathSync(file);
  } catch {
    return null;
  }
}

/** A path as one word inside single quotes, with `~` for the home folder where no quotes are needed. */
function shellWord(path: string): string {
  if (!/^[\w@%+=:,./-]+$/.test(path)) {
    const quoted = path.replace(/["$`\\]/g, String.raw`\$&`);
    return `"${quoted.replaceAll("'", String.raw`'\''`)}"`;
  }
  const home = homedir() + sep;
  return path.startsWith(home) && home !== sep ? `~/${path.slice(home.length)}` : path;
}
