import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folders of this process. Each test file runs in a process of its own. */
const folders: string[] = [];

/**
 * Makes an empty folder. It is removed when this process ends.
 * @param name what the folder is for; it becomes part of the folder's name
 * @returns its path
 */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `rolecall-${name}-`));
  if (folders.push(folder) === 1) process.once("exit", removeFolders);
  return folder;
}

function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
