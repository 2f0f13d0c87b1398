import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a directory, and those above it that are missing. Unlike `mkdir` of Node with `recursive`, it ends where a file
 * system accepts no new directory but says ENOENT (/proc): Node tries for ever, in a thread that the end of the process
 * waits for.
 * @param mode of the directories that it makes
 * @throws the file system's error
 */
export async function makeDirectory(directory: string, mode: number): Promise<void> {
  try {
    await mkdir(directory, { mode });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    const above = dirname(directory);
    if (code === "EEXIST" && (await isDirectory(directory))) return;
    if (code !== "ENOENT" || above === directory || (await isDirectory(above))) throw error;
    await makeDirectory(above, mode);
    await mkdir(directory, { mode }).catch(async (again: unknown) => {
      if (!(await isDirectory(directory))) throw again;
    });
  }
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
