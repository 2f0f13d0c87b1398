/** Where the documentation explains a reason. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Reason } from "../health/reason.ts";

/** The page in the package, and its name where the package has no documentation. */
const page = "docs/reasons.md";

let foundPage: string | null = null;

/**
 * @param reason why a node is unfit
 * @returns the section of the page on reasons, as a path that exists on this machine: `docs/reasons.md#lagging` in the
 * folder of the package, `/usr/lib/node_modules/rolecall/docs/reasons.md#lagging` elsewhere
 */
export function reasonLink(reason: Reason): string {
  foundPage ??= pagePath(process.cwd());
  return `${foundPage}#${reason}`;
}

/**
 * The path of the page on reasons: `docs/reasons.md` in the folder of the package, absolute elsewhere. Without an
 * installed page, its name in the package.
 */
export function pagePath(workingDirectory: string): string {
  // The package is two folders above this module in `dist`, three when compiled for tests.
  const file = [`../../${page}`, `../../../${page}`]
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
  return file === undefined || file === join(workingDirectory, page) ? page : file;
}
