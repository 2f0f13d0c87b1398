import { existsSync, readFileSync } from "node:fs";
import { getAsset, isSea } from "node:sea";
import { fileURLToPath } from "node:url";

/** Whether this process runs the single executable, which holds the files of the program as assets. */
export const isExecutable: boolean = isSea();

/** The folder of the package: the nearest one above this module that holds a package.json. */
const packageFolder: URL | null = isExecutable ? null : findPackageFolder();

/**
 * Reads a file that belongs to the program, from the package or from the single executable.
 * @param name its path in the package, such as `package.json`
 * @returns `null` if the program has no such file
 */
export function readProgramFile(name: string): Buffer | null {
  if (isExecutable) return readAsset(name);
  const path = programPath(name);
  return path === null ? null : readFileSync(path);
}

/**
 * Returns where a file of the program is on this machine.
 * @param name its path in the package, such as `docs/reasons.md`
 * @returns its absolute path; `null` if the program has no such file outside the single executable
 */
export function programPath(name: string): string | null {
  if (packageFolder === null) return null;
  const path = fileURLToPath(new URL(name, packageFolder));
  return existsSync(path) ? path : null;
}

/**
 * Reads a file of the live page.
 * @param name its path in the page, such as `vendor/preact.js`
 * @returns `null` if the page has no such file
 */
export function readPageFile(name: string): Buffer | null {
  return readProgramFile(`dist/web/${name}`);
}

function readAsset(name: string): Buffer | null {
  try {
    return Buffer.from(getAsset(name));
  } catch {
    return null;
  }
}

function findPackageFolder(): URL | null {
  let folder = new URL(".", import.meta.url);
  while (!existsSync(new URL("package.json", folder))) {
    const above = new URL("..", folder);
    if (above.href === folder.href) return null;
    folder = above;
  }
  return folder;
}
