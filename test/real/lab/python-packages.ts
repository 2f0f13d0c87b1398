/** Programs from the Python package index. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Installs packages into a virtual environment that later runs find again under the temporary folder. Takes some ten
 * seconds the first time, at most 3 minutes. The system's own python3, because other users may have to read it.
 * @param name the name of the environment, with the version of what is in it
 * @returns the folder of its programs, or why there is none
 */
export function pythonPrograms(
  name: string,
  packages: readonly string[],
): { readonly bin: string } | { readonly notRun: string } {
  const folder = join(tmpdir(), `rolecall-${name}-${process.getuid?.() ?? 0}`);
  const [complete, bin] = [join(folder, "complete"), join(folder, "bin")];
  // A program in a folder that everyone may write is run only if this user put it there.
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isDirectory() || found.uid !== process.getuid?.()))
    return { notRun: `${folder} belongs to another user` };
  if (existsSync(complete)) return { bin };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o755 });
  for (const [what, command, ...args] of [
    ["no virtual environment (package python3-venv)", "/usr/bin/python3", "-m", "venv", folder],
    [`pip cannot install ${packages.join(", ")}`, join(bin, "python3"), "-m", "pip", "install", "--quiet", ...packages],
  ] as const) {
    try {
      execFileSync(command, args, { stdio: "ignore", timeout: 120_000 });
    } catch {
      return { notRun: what };
    }
  }
  writeFileSync(complete, "");
  return { bin };
}
